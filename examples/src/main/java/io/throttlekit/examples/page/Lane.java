package io.throttlekit.examples.page;

import io.throttlekit.Decision;
import io.throttlekit.Store;
import io.throttlekit.Strategy;
import io.throttlekit.examples.page.Frame.LaneFrame;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.Quota;
import io.throttlekit.strategy.SlidingWindow;
import io.throttlekit.strategy.SlidingWindowLog;
import io.throttlekit.strategy.TokenBucket;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/** A strategy under load. To be used by one thread at a time. */
final class Lane {
    private static final String KEY = "visitor";
    private static final Duration SECOND = Duration.ofSeconds(1);

    /** The quota is the same rate as everywhere, over so much time. */
    private static final int QUOTA_SECONDS = 10;

    private static final int BUCKETS = 10;

    private final Kind kind;
    private final Limiter limiter;
    private final Knobs knobs;
    private final long sinceMicros;
    private long admitted;
    private long denied;
    private long totalAdmitted;
    private long totalDenied;

    private Lane(Kind kind, Store store, Knobs knobs, long sinceMicros) {
        Strategy<?> strategy = kind.strategy.apply(knobs);
        this.kind = kind;
        this.knobs = knobs;
        this.sinceMicros = sinceMicros;
        this.limiter =
                Limiter.builder(strategy).store(store).prefix(strategy.name()).build();
    }

    /**
     * A lane per strategy. They take over what the store knows of the key, by limits that may have been others: the
     * state is converted, and a full bucket does not come of it.
     */
    static List<Lane> all(Store store, Knobs knobs, long nowMicros) {
        return Kind.ALL.stream()
                .map(kind -> new Lane(kind, store, knobs, nowMicros))
                .toList();
    }

    /** Offers a request. */
    Mono<Void> ask() {
        return limiter.check(KEY).doOnNext(this::count).then();
    }

    private void count(Decision decision) {
        if (decision.allowed()) {
            admitted++;
        } else {
            denied++;
        }
    }

    /** What happened since this was last asked. */
    LaneFrame frame(long nowMicros) {
        totalAdmitted += admitted;
        totalDenied += denied;
        LaneFrame frame = new LaneFrame(
                limiter.strategy().name(),
                admitted,
                denied,
                totalAdmitted,
                totalDenied,
                kind.most.between(knobs, sinceMicros, nowMicros));
        admitted = 0;
        denied = 0;
        return frame;
    }

    /** The most that may be admitted from one instant to another, both included, whatever the load. */
    private interface Most {
        long between(Knobs knobs, long fromMicros, long toMicros);
    }

    private record Kind(Function<Knobs, Strategy<?>> strategy, Most most) {
        static final List<Kind> ALL = List.of(
                new Kind(knobs -> Gcra.of(knobs.limit(), SECOND).withBurst(knobs.burst()), Kind::refilled),
                new Kind(knobs -> TokenBucket.of(knobs.burst(), knobs.limit(), SECOND), Kind::refilled),
                // Any ten buckets hold the limit at most. The second before an instant may be parts of eleven.
                new Kind(
                        knobs -> SlidingWindow.of(knobs.limit(), SECOND, BUCKETS),
                        (knobs, from, to) ->
                                knobs.limit() * ((windows(1_000 / BUCKETS, from, to) + BUCKETS - 1) / BUCKETS)),
                new Kind(
                        knobs -> SlidingWindowLog.of(knobs.limit(), SECOND),
                        (knobs, from, to) -> knobs.limit() * ((ms(to) - ms(from)) / 1_000 + 1)),
                new Kind(
                        knobs -> FixedWindow.of(knobs.limit(), SECOND),
                        (knobs, from, to) -> knobs.limit() * windows(1_000, from, to)),
                new Kind(
                        knobs -> Quota.fixed((long) knobs.limit() * QUOTA_SECONDS, Duration.ofSeconds(QUOTA_SECONDS)),
                        (knobs, from, to) ->
                                (long) knobs.limit() * QUOTA_SECONDS * windows(QUOTA_SECONDS * 1_000L, from, to)));

        private static long refilled(Knobs knobs, long from, long to) {
            return knobs.burst() + knobs.limit() * (to - from) / 1_000_000;
        }

        /** How many windows of the clock there is a part of. */
        private static long windows(long windowMs, long from, long to) {
            return Math.floorDiv(ms(to), windowMs) - Math.floorDiv(ms(from), windowMs) + 1;
        }

        private static long ms(long micros) {
            return Math.floorDiv(micros, 1_000L);
        }
    }
}
