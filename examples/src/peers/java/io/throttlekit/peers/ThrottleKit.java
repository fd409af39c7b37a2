package io.throttlekit.peers;

import io.throttlekit.Decision;
import io.throttlekit.Store;
import io.throttlekit.Strategy;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.pg.PgStore;
import io.throttlekit.redis.RedisStore;
import io.throttlekit.shaping.LeakyBucket;
import io.throttlekit.shaping.Shaper;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.SlidingWindow;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** This library: GCRA, a sliding window where one is asked for, and the shaper to wait. */
abstract class ThrottleKit implements Library {
    /** This machine may be busy with something else. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Store store;

    ThrottleKit(Store store) {
        this.store = store;
    }

    @Override
    public Limit perPeriod(String key, long limit, Duration period) {
        return limit(key, Gcra.of(limit, period));
    }

    @Override
    public Limit perWindow(String key, long limit, Duration window) {
        return limit(key, SlidingWindow.of(limit, window));
    }

    @Override
    public Limit evenly(String key, long perSecond) {
        return limit(key, Gcra.of(perSecond, Duration.ofSeconds(1)).withBurst(1));
    }

    private Limit limit(String key, Strategy<?> strategy) {
        Limiter limiter = Limiter.builder(strategy).store(store).build();
        return cost -> {
            Decision decision = Objects.requireNonNull(limiter.check(key, cost).block());
            return new Answer(decision.allowed(), TimeUnit.MILLISECONDS.toNanos(decision.retryAfterMs()));
        };
    }

    @Override
    public Limit waiting(String key, Duration interval) {
        Shaper shaper = LeakyBucket.of(1, interval)
                .maxQueue(Duration.ofMinutes(1))
                .store(store)
                .build();
        return new Limit() {
            @Override
            public Answer ask(long cost) {
                throw new NotApplicable("a shaper is waited for");
            }

            @Override
            public Future<?> await() {
                return shaper.schedule(key).toFuture();
            }
        };
    }

    @Override
    public void close() {
        store.close().block();
    }

    /** In this process. */
    public static final class Memory extends ThrottleKit {
        public Memory(Servers servers) {
            super(MemoryStore.create());
        }

        @Override
        public String name() {
            return "ThrottleKit, memory";
        }
    }

    /** On Redis. */
    public static final class OnRedis extends ThrottleKit {
        public OnRedis(Servers servers) {
            super(RedisStore.builder(servers.redis()).deadline(PATIENCE).build());
        }

        @Override
        public String name() {
            return "ThrottleKit, Redis";
        }

        @Override
        public boolean shared() {
            return true;
        }

        @Override
        public boolean onRedis() {
            return true;
        }
    }

    /** On PostgreSQL. */
    public static final class OnPostgres extends ThrottleKit {
        public OnPostgres(Servers servers) {
            super(PgStore.builder(servers.postgres()).deadline(PATIENCE).build());
        }

        @Override
        public String name() {
            return "ThrottleKit, PostgreSQL";
        }

        @Override
        public boolean shared() {
            return true;
        }
    }
}
