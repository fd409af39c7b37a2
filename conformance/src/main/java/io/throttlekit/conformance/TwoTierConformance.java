package io.throttlekit.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Clock;
import io.throttlekit.Decision;
import io.throttlekit.Store;
import io.throttlekit.Transform;
import io.throttlekit.limiter.LeaseOptions;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.limiter.TwoTier;
import io.throttlekit.strategy.FixedWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * What leased limiters promise over a store, by that store's own time. Extend it and say which store.
 *
 * <ol>
 *   <li>Nodes whose clocks are up to an hour off admit at most {@code limit + N * (batch - 1)} in any window.
 *   <li>With window-coupled leases they admit the limit, and no more.
 *   <li>100,000 checks in batches of 100 take about 1,000 calls.
 * </ol>
 */
public abstract class TwoTierConformance {
    private static final int LIMIT = 40;
    private static final int BATCH = 5;
    private static final long WINDOW_MS = 400;
    private static final Duration TIME = Duration.ofMillis(1_300);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** For extension. */
    protected TwoTierConformance() {}

    /**
     * The store, which may be in use by others; it is not closed. Calls should have some seconds before they fail.
     *
     * @return always the same store
     */
    protected abstract Store store();

    private record Skewed(long offMicros, Clock right) implements Clock {
        @Override
        public long epochMicros() {
            return right.epochMicros() + offMicros;
        }

        @Override
        public long monotonicNanos() {
            return right.monotonicNanos();
        }
    }

    private record Counting(Store store, AtomicInteger calls) implements Store {
        @Override
        public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
            return store.apply(key, transform).doOnSubscribe(subscription -> calls.incrementAndGet());
        }

        @Override
        public Mono<Void> reset(String key) {
            return store.reset(key);
        }

        @Override
        public Mono<Void> close() {
            return Mono.empty();
        }
    }

    /** The most that nodes admit in one window, when they are asked as fast as they answer. */
    private long most(int nodes, LeaseOptions options, ToLongFunction<Decision> window) {
        FixedWindow strategy = FixedWindow.of(LIMIT, Duration.ofMillis(WINDOW_MS));
        String key = UUID.randomUUID().toString();
        Map<Long, Long> admitted = new ConcurrentHashMap<>();
        Clock right = Clock.system();
        // The time is for decisions, not for the store's first connection.
        store().apply(UUID.randomUUID().toString(), strategy.check(1, 1)).block(PATIENCE);
        long endNanos = right.monotonicNanos() + TIME.toNanos();
        List<Limiter> limiters = new ArrayList<>();
        List<Mono<Void>> loads = new ArrayList<>();
        for (int node = 0; node < nodes; node++) {
            Random random = new Random(node);
            long hour = Duration.ofHours(1).toNanos() / 1_000;
            Limiter limiter = TwoTier.leased(strategy, store(), options.deadline(Duration.ofSeconds(30)))
                    .clock(new Skewed(random.nextLong(2 * hour) - hour, right))
                    .build();
            limiters.add(limiter);
            loads.add(Flux.<Long>generate(sink -> {
                        if (right.monotonicNanos() - endNanos < 0) {
                            sink.next(1 + random.nextLong(3));
                        } else {
                            sink.complete();
                        }
                    })
                    .flatMap(cost -> limiter.check(key, cost), 4)
                    .filter(Decision::allowed)
                    .doOnNext(decision -> admitted.merge(window.applyAsLong(decision), decision.granted(), Long::sum))
                    .then());
        }
        Mono.when(loads).block(PATIENCE);
        Flux.fromIterable(limiters).flatMap(Limiter::close).then().block(PATIENCE);
        return admitted.values().stream().mapToLong(Long::longValue).max().orElse(0);
    }

    /** Rule 1. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 8})
    void carriesAtMostABatchLessOnePerNode(int nodes) {
        // Instants are rounded up, so the border may be one window's last millisecond or the very beginning of the
        // next. But no credit is used before the window that it was leased in.
        long most = most(
                nodes,
                LeaseOptions.batch(BATCH),
                decision -> Math.max((decision.decidedAtMs() - 1) / WINDOW_MS, decision.resetAtMs() / WINDOW_MS - 1));

        assertThat(most).isBetween((long) LIMIT, LIMIT + nodes * (BATCH - 1L));
    }

    /** Rule 2. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 8})
    void admitsTheLimitWhenCreditsEndWithTheirWindow(int nodes) {
        long most = most(nodes, LeaseOptions.batch(BATCH).windowCoupled(), Decision::resetAtMs);

        assertThat(most).isEqualTo(LIMIT);
    }

    /** Rule 3. */
    @Test
    void aHundredThousandChecksTakeAThousandCalls() {
        AtomicInteger calls = new AtomicInteger();
        Limiter limiter = TwoTier.leased(
                        FixedWindow.of(1_000_000, Duration.ofDays(3_650)),
                        new Counting(store(), calls),
                        LeaseOptions.batch(100).deadline(Duration.ofSeconds(30)))
                .prefix(UUID.randomUUID().toString())
                .build();

        Long allowed = Flux.range(0, 100_000)
                .flatMap(i -> limiter.check("k"), 64)
                .filter(Decision::allowed)
                .count()
                .block(PATIENCE);

        assertThat(allowed).isEqualTo(100_000);
        assertThat(calls.get()).isBetween(1_000, 1_010);
        limiter.close().block(PATIENCE);
    }
}
