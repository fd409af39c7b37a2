package io.throttlekit.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.ManualClock;
import io.throttlekit.Store;
import io.throttlekit.Transform;
import io.throttlekit.limiter.Wire.Holding;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.FixedWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Several limiters over one store, under random load: what they admit together. */
class TwoTierBoundsTest {
    private static final int WINDOW_MS = 1_000;
    private static final int LIMIT = 20;
    private static final int BATCH = 5;
    private static final int WINDOWS = 30;
    private static final long START = 1_759_996_560_000_000L;

    /** A node with its own idea of the time of day, and a wire that may be slow. */
    private record Node(ManualClock clock, Wire wire, Limiter limiter) {}

    private static final class Cluster {
        private final Random random;
        private final FixedWindow strategy = FixedWindow.of(LIMIT, Duration.ofMillis(WINDOW_MS));
        private final ManualClock storeClock = ManualClock.at(START);
        private final MemoryStore store =
                MemoryStore.builder().clock(storeClock).build();
        private final List<Node> nodes = new ArrayList<>();
        private final Map<Long, Long> admitted = new HashMap<>();
        private long future;

        Cluster(int size, LeaseOptions options, long seed) {
            random = new Random(seed);
            for (int i = 0; i < size; i++) {
                long hour = 3_600_000_000L;
                ManualClock skewed = ManualClock.at(START + random.nextLong(2 * hour) - hour);
                Wire wire = new Wire(store);
                nodes.add(new Node(
                        skewed,
                        wire,
                        TwoTier.leased(strategy, wire, options.deadline(Duration.ofMinutes(5)))
                                .clock(skewed)
                                .build()));
            }
        }

        private void advance(long millis) {
            storeClock.advance(Duration.ofMillis(millis));
            nodes.forEach(node -> node.clock.advance(Duration.ofMillis(millis)));
        }

        private void count(Decision decision) {
            if (decision.allowed()) {
                admitted.merge(decision.decidedAtMs() / WINDOW_MS, decision.granted(), Long::sum);
                if (decision.decidedAtMs() * 1000 > storeClock.epochMicros()) {
                    future++;
                }
            }
        }

        void run() {
            while (storeClock.epochMicros() < START + WINDOWS * WINDOW_MS * 1000L) {
                Node node = nodes.get(random.nextInt(nodes.size()));
                switch (random.nextInt(8)) {
                    case 0 -> node.wire.holding = List.of(Holding.values()).get(random.nextInt(3));
                    case 1 -> node.wire.releaseAll();
                    case 2 -> advance(random.nextInt(4) == 0 ? random.nextInt(300) : random.nextInt(40));
                    case 3 ->
                        node.limiter
                                .check("k", 1 + random.nextInt(3))
                                .subscribe(this::count)
                                .dispose();
                    default ->
                        node.limiter
                                .check("k", 1 + (random.nextInt(4) == 0 ? random.nextInt(7) : 0))
                                .subscribe(this::count);
                }
            }
            nodes.forEach(node -> node.wire.releaseAll());
        }

        long most() {
            return admitted.values().stream().mapToLong(Long::longValue).max().orElse(0);
        }
    }

    @Test
    void carriesAtMostABatchLessOnePerNodeIntoAWindow() {
        for (int size : new int[] {1, 2, 8}) {
            for (int seed = 0; seed < 3; seed++) {
                Cluster cluster = new Cluster(size, LeaseOptions.batch(BATCH), seed);

                cluster.run();

                assertThat(cluster.most()).isBetween((long) LIMIT, LIMIT + size * (BATCH - 1L));
                assertThat(cluster.future).isZero();
            }
        }
    }

    @Test
    void carriesALowWaterMoreWithRefills() {
        for (int size : new int[] {1, 2, 8}) {
            Cluster cluster = new Cluster(size, LeaseOptions.batch(BATCH).lowWater(2), size);

            cluster.run();

            assertThat(cluster.most()).isBetween((long) LIMIT, LIMIT + size * (BATCH - 1L + 2));
        }
    }

    @Test
    void admitsTheLimitInEveryWindowWhenCoupled() {
        for (int size : new int[] {1, 2, 8}) {
            for (int seed = 0; seed < 3; seed++) {
                Cluster cluster = new Cluster(
                        size, LeaseOptions.batch(BATCH).windowCoupled().lowWater(seed % 2), seed);

                cluster.run();

                assertThat(cluster.most()).isEqualTo(LIMIT);
                assertThat(cluster.future).isZero();
            }
        }
    }

    /** Counts what it hears, and leaves at a time of its own. */
    private static final class Fickle extends BaseSubscriber<Decision> {
        private final AtomicLong spent;
        private final CountDownLatch ended;

        Fickle(AtomicLong spent, CountDownLatch ended) {
            this.spent = spent;
            this.ended = ended;
        }

        @Override
        protected void hookOnSubscribe(Subscription subscription) {
            requestUnbounded();
        }

        @Override
        protected void hookOnNext(Decision decision) {
            spent.addAndGet(decision.granted());
        }

        @Override
        protected void hookOnError(Throwable error) {
            throw new AssertionError(error);
        }

        @Override
        protected void hookFinally(SignalType type) {
            ended.countDown();
        }
    }

    /** Answers on other threads, sooner or later. */
    private record Elsewhere(Store store, Scheduler scheduler) implements Store {
        @Override
        public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
            return Mono.defer(() -> store.apply(key, transform))
                    .subscribeOn(scheduler)
                    .publishOn(scheduler);
        }

        @Override
        public Mono<Void> reset(String key) {
            return store.reset(key);
        }

        @Override
        public Mono<Void> close() {
            return store.close();
        }
    }

    @Test
    void accountsForEveryUnitWhenSubscribersComeAndGo() throws InterruptedException {
        int threads = 4;
        int each = 25_000;
        FixedWindow strategy = FixedWindow.of(10_000_000, Duration.ofDays(1));
        MemoryStore store = MemoryStore.builder().clock(ManualClock.at(START)).build();
        Scheduler others = Schedulers.newParallel("elsewhere", 2);
        Limiter limiter = TwoTier.leased(
                        strategy,
                        new Elsewhere(store, others),
                        LeaseOptions.batch(7)
                                .lowWater(2)
                                .maxWaiters(threads * each)
                                .deadline(Duration.ofMinutes(1)))
                .clock(ManualClock.at(START))
                .build();
        AtomicLong spent = new AtomicLong();
        CountDownLatch ended = new CountDownLatch(threads * each);
        Scheduler callers = Schedulers.newParallel("callers", threads);

        for (int thread = 0; thread < threads; thread++) {
            Random random = new Random(thread);
            callers.schedule(() -> {
                List<Fickle> recent = new ArrayList<>();
                for (int i = 0; i < each; i++) {
                    Fickle fickle = new Fickle(spent, ended);
                    limiter.check("k", 1 + random.nextInt(3)).subscribe(fickle);
                    recent.add(fickle);
                    if (random.nextInt(3) == 0) {
                        recent.remove(random.nextInt(recent.size())).cancel();
                    }
                    if (recent.size() > 50) {
                        recent.clear();
                    }
                }
            });
        }

        assertThat(ended.await(60, TimeUnit.SECONDS)).isTrue();
        limiter.close().block(Duration.ofSeconds(60));
        long used = strategy.limit()
                - store.applySync("k", strategy.peek(), store.nowMicros()).remaining();
        assertThat(used).isEqualTo(spent.get());
        callers.dispose();
        others.dispose();
    }
}
