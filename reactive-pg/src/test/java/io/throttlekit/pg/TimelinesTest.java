package io.throttlekit.pg;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.ManualClock;
import io.throttlekit.Store;
import io.throttlekit.Strategy;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.Quota;
import io.throttlekit.strategy.SlidingWindow;
import io.throttlekit.strategy.SlidingWindowLog;
import io.throttlekit.strategy.TokenBucket;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Random operations at random times, forward and sometimes back: every answer is that of the store in memory. */
class TimelinesTest {
    private static final int KEYS = 3;
    private static final int OPERATIONS = 120;
    private static final long EPOCH = 1_759_996_572_738_123L;

    private static List<Strategy<?>> strategies(Random random) {
        long limit = 1L + random.nextInt(40);
        Duration period = Duration.ofMillis(1 + random.nextInt(5_000));
        return List.of(
                Gcra.of(limit, period),
                Gcra.of(limit, period).withBurst(1 + random.nextInt(60)),
                Gcra.of(999_999_937, Duration.ofSeconds(7)).withBurst(1_000),
                TokenBucket.of(limit, 1 + random.nextInt(20), period),
                TokenBucket.perSecond(limit, 1.67),
                FixedWindow.of(limit, period),
                SlidingWindow.of(limit, period, 1 + random.nextInt(12)),
                SlidingWindowLog.of(limit, period),
                Quota.daily(limit).in(ZoneId.of("Africa/Cairo")),
                Quota.fixed(limit, period),
                Quota.rolling(limit, period));
    }

    @ParameterizedTest(name = "programs: {0}")
    @ValueSource(booleans = {true, false})
    void decidesAsMemoryDoes(boolean programs) {
        Random random = new Random(programs ? 5 : 6);
        ManualClock clock = ManualClock.at(EPOCH);
        MemoryStore memory =
                MemoryStore.builder().clock(clock).sweepInterval(Duration.ZERO).build();
        String database = Postgres.SERVER.createDatabase();
        PgStore postgres =
                Postgres.store(database).clock(clock).programs(programs).build();

        for (int round = 0; round < (programs ? 3 : 2); round++) {
            for (Strategy<?> strategy : strategies(random)) {
                play(strategy, memory, postgres, clock, random);
            }
        }
        Postgres.done(postgres.close());
    }

    private static <S> void play(Strategy<S> strategy, Store memory, Store postgres, ManualClock clock, Random random) {
        String key = "timeline-" + random.nextLong();
        Duration window = strategy.window();
        long span = window == null ? 86_400_000_000L : window.toNanos() / 1000;
        List<Decision> charged = new ArrayList<>();
        for (int i = 0; i < OPERATIONS; i++) {
            long move = random.nextInt(8) == 0 ? -random.nextLong(span / 2 + 1) : random.nextLong(span / 6 + 2);
            clock.set(clock.epochMicros() + (random.nextInt(3) == 0 ? 0 : move));
            String one = key + random.nextInt(KEYS);
            int kind = random.nextInt(8);
            long cost = 1 + random.nextLong(Math.min(8, strategy.limit()) + 1);
            Decision lately = charged.isEmpty() ? null : charged.get(random.nextInt(charged.size()));

            Flux<Object> answers = Flux.just(memory, postgres).concatMap(store -> switch (kind) {
                case 0, 1, 2, 3 -> store.apply(one, strategy.check(cost, cost));
                case 4 -> store.apply(one, strategy.check(cost, cost + 20));
                case 5 -> store.apply(one, strategy.peek());
                case 6 -> store.apply(one, strategy.forecast(cost));
                default -> store.apply(one, strategy.refund(cost, cost % 2 == 0 ? null : lately));
            });
            List<Object> both = Postgres.get(answers.collectList());

            assertThat(both.get(1)).as("%s, operation %s", strategy, i).isEqualTo(both.get(0));
            if (both.get(0) instanceof Decision decision && decision.granted() > 0) {
                charged.add(decision);
            }
        }
        Postgres.done(Mono.when(memory.reset(key), postgres.reset(key)));
    }
}
