package io.throttlekit.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.Decision;
import io.throttlekit.ManualClock;
import io.throttlekit.StateMismatchException;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.Strategy;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.Quota;
import io.throttlekit.strategy.SlidingWindow;
import io.throttlekit.strategy.SlidingWindowLog;
import io.throttlekit.strategy.TokenBucket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import reactor.test.StepVerifier;

class MemoryStoreTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final long START = 1_759_996_572_738_000L;

    private final ManualClock clock = ManualClock.at(START);

    private MemoryStore.Builder options() {
        return MemoryStore.builder().clock(clock).sweepInterval(Duration.ZERO);
    }

    private static Decision take(MemoryStore store, Strategy<?> strategy, String key) {
        return store.applySync(key, strategy.check(1, 1), store.nowMicros());
    }

    /** Runs the task on every thread at once, and waits for all of them. */
    private static void together(int threads, Task task) {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        CyclicBarrier start = new CyclicBarrier(threads);
        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int thread = i;
            running.add(pool.submit(() -> {
                start.await();
                task.run(thread);
                return null;
            }));
        }
        try {
            for (Future<?> future : running) {
                future.get(120, TimeUnit.SECONDS);
            }
        } catch (Exception e) {
            throw new AssertionError(e);
        } finally {
            pool.shutdownNow();
        }
    }

    private interface Task {
        void run(int thread) throws Exception;
    }

    @Test
    void sweepsWhatHasExpiredAndNothingElse() {
        MemoryStore store = options().build();
        Gcra tenPerSecond = Gcra.of(10, SECOND);
        FixedWindow perHour = FixedWindow.of(10, HOUR);
        for (int i = 0; i < 1_000; i++) {
            take(store, tenPerSecond, "fast-" + i);
            take(store, perHour, "slow-" + i);
        }

        clock.advance(Duration.ofSeconds(2));
        store.keeper.sweep(clock.epochMicros());

        assertThat(store.size()).isEqualTo(1_000);
        assertThat(take(store, perHour, "slow-7").remaining()).isEqualTo(8);

        clock.advance(HOUR);
        store.keeper.sweep(clock.epochMicros());

        assertThat(store.size()).isZero();
    }

    @Test
    void aKeyThatIsUsedAgainOutlivesTheSlotItWasFiledIn() {
        MemoryStore store = options().wheelSlots(2).build();
        Gcra strategy = Gcra.of(1, SECOND).withBurst(5);
        for (int i = 0; i < 50; i++) {
            take(store, strategy, "k");

            clock.advance(Duration.ofMillis(900));
            store.keeper.sweep(clock.epochMicros());

            assertThat(store.size()).isOne();
        }

        clock.advance(Duration.ofSeconds(30));
        store.keeper.sweep(clock.epochMicros());

        assertThat(store.size()).isZero();
    }

    @Test
    void aKeyIsFreedAlsoWhenTheClockHasSteppedBack() {
        MemoryStore store = options().build();
        clock.advance(Duration.ofDays(1));
        store.keeper.sweep(clock.epochMicros());
        clock.set(START);
        take(store, Gcra.of(1, SECOND), "k");

        clock.advance(Duration.ofDays(2));
        store.keeper.sweep(clock.epochMicros());

        assertThat(store.size()).isZero();
    }

    @Test
    void readingOrDenyingAnUnknownKeyKeepsNothing() {
        MemoryStore store = options().build();
        for (Strategy<?> strategy : List.of(Gcra.of(5, SECOND), TokenBucket.of(5, 5, SECOND))) {
            Limiter limiter = Limiter.builder(strategy).store(store).build();

            limiter.peekSync("a");
            limiter.forecastSync("b", 1);
            limiter.checkSync("c", 6);
            limiter.refundSync("d", 1, null);

            assertThat(store.size()).isZero();
        }
    }

    @Test
    void forgetsTheKeyThatHasTheMostRemaining() {
        MemoryStore store = options().maxKeys(2).build();
        Limiter limiter = Limiter.builder(FixedWindow.of(10, HOUR)).store(store).build();
        limiter.checkSync("used", 9);
        limiter.checkSync("fresh", 1);

        limiter.checkSync("new", 5);

        assertThat(store.size()).isEqualTo(2);
        assertThat(limiter.peekSync("used").remaining()).isEqualTo(1);
        assertThat(limiter.peekSync("fresh").remaining()).isEqualTo(10);
    }

    @Test
    void aFloodOfKeysWashesAwayNoKeyThatIsOverItsLimit() {
        int maxKeys = 20_000;
        int floods = 250_000;
        MemoryStore store = options().maxKeys(maxKeys).build();
        Map<String, Strategy<?>> strategies = new LinkedHashMap<>();
        strategies.put("gcra", Gcra.of(2, HOUR));
        strategies.put("gcraLargeDenominator", Gcra.of(999_983, HOUR).withBurst(2));
        strategies.put("tokenBucket", TokenBucket.of(2, 2, HOUR));
        strategies.put("fixedWindow", FixedWindow.of(2, Duration.ofDays(1)));
        strategies.put("slidingWindow", SlidingWindow.of(2, HOUR));
        strategies.put("slidingWindowLog", SlidingWindowLog.of(2, HOUR));
        strategies.put("quota", Quota.monthly(2));
        List<Strategy<?>> all = List.copyOf(strategies.values());
        strategies.forEach((name, strategy) -> {
            for (int i = 0; i < 20; i++) {
                take(store, strategy, name + i);
                take(store, strategy, name + i);
            }
        });

        together(2, thread -> {
            for (int i = 0; i < floods; i++) {
                take(store, all.get(i % all.size()), thread + "-" + i);
            }
        });

        assertThat(store.size()).isEqualTo(maxKeys);
        strategies.forEach((name, strategy) -> {
            for (int i = 0; i < 20; i++) {
                assertThat(take(store, strategy, name + i).allowed()).as(name).isFalse();
            }
        });
    }

    @Test
    void sixtyFourThreadsAdmitExactlyTheLimitOfEachKey() {
        int keys = 1_000;
        MemoryStore store = options().build();
        // Cells take 64 million checks in a few seconds; contended critical sections take longer.
        Map<Strategy<?>, Integer> checks =
                Map.of(Gcra.of(50_000, HOUR), 1_000_000, TokenBucket.of(1_000, 1_000, HOUR), 20_000);
        checks.forEach((strategy, each) -> {
            AtomicIntegerArray admitted = new AtomicIntegerArray(keys);
            Limiter limiter = Limiter.builder(strategy)
                    .store(store)
                    .prefix(strategy.name())
                    .build();
            String[] names = new String[keys];
            for (int i = 0; i < keys; i++) {
                names[i] = "key-" + i;
            }

            together(64, thread -> {
                for (int i = 0; i < each; i++) {
                    int key = (i + 15 * thread) % keys;
                    if (limiter.checkSync(names[key]).allowed()) {
                        admitted.incrementAndGet(key);
                    }
                }
            });

            for (int i = 0; i < keys; i++) {
                assertThat(admitted.get(i)).isEqualTo((int) strategy.limit());
            }
        });
    }

    @Test
    void checksGoOnWhileExpiredKeysAreSwept() {
        MemoryStore store = options().unbounded().build();
        Gcra strategy = Gcra.of(1_000, SECOND);
        for (int i = 0; i < 300_000; i++) {
            take(store, strategy, "k" + i);
        }
        clock.advance(Duration.ofMinutes(1));
        CountDownLatch swept = new CountDownLatch(1);
        AtomicInteger added = new AtomicInteger();

        together(2, thread -> {
            if (thread == 0) {
                store.keeper.sweep(clock.epochMicros());
                swept.countDown();
            } else {
                while (swept.getCount() > 0) {
                    take(store, strategy, "new" + added.getAndIncrement());
                }
            }
        });

        assertThat(store.size()).isEqualTo(added.get());
        assertThat(added.get()).isGreaterThan(1_000);
    }

    @Test
    void anInstantMovesToItsGeneralFormWhenAnotherRateNeedsIt() {
        MemoryStore store = options().build();
        take(store, Gcra.of(3, SECOND), "k");

        Decision finer = take(store, Gcra.of(7, SECOND), "k");
        Decision coarser = take(store, Gcra.of(3, SECOND), "k");

        // 1/3 s is taken; 1/7 s more, rounded up to a third of a microsecond, is 10/21 s; 17/21 s with another third.
        assertThat(finer.resetAtMs()).isEqualTo(START / 1000 + 477);
        assertThat(coarser.resetAtMs()).isEqualTo(START / 1000 + 810);
    }

    @Test
    void staysRightAfterIdleCenturies() {
        MemoryStore store = options().unbounded().build();
        Gcra strategy = Gcra.of(27, SECOND);
        take(store, strategy, "old");

        for (int i = 0; i < 3; i++) {
            clock.advance(Duration.ofDays(300 * 365));

            int admitted = 0;
            while (take(store, strategy, "old").allowed()) {
                admitted++;
            }
            assertThat(admitted).isEqualTo(27);
            assertThat(take(store, strategy, "new" + i).remaining()).isEqualTo(26);
        }
    }

    @Test
    void refusesAKeyOfAnotherKindOfLimiter() {
        MemoryStore store = options().build();
        take(store, Gcra.of(3, HOUR), "cell");
        take(store, FixedWindow.of(3, HOUR), "section");

        assertThatThrownBy(() -> take(store, FixedWindow.of(3, HOUR), "cell"))
                .isInstanceOf(StateMismatchException.class)
                .hasMessageContaining("fixedWindow")
                .hasMessageContaining("gcra");
        assertThatThrownBy(() -> take(store, Gcra.of(3, HOUR), "section")).isInstanceOf(StateMismatchException.class);
        assertThat(take(store, Gcra.of(3, HOUR), "cell").remaining()).isOne();
    }

    @Test
    void theSweepingThreadComesWithTheFirstKeyAndGoesWithTheLast() {
        MemoryStore store = MemoryStore.builder()
                .sweepInterval(Duration.ofMillis(5))
                .wheelTick(Duration.ofMillis(1))
                .build();

        take(store, Gcra.of(1_000, SECOND), "k");

        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (store.size() > 0 && System.nanoTime() < deadline) {
            Thread.onSpinWait();
        }
        assertThat(store.size()).isZero();
        take(store, Gcra.of(1_000, SECOND), "again");
        while (store.size() > 0 && System.nanoTime() < deadline) {
            Thread.onSpinWait();
        }
        assertThat(store.size()).isZero();
        store.close().block();
    }

    @Test
    void failsWithATypedErrorOnceClosed() {
        MemoryStore store = options().build();
        take(store, Gcra.of(3, HOUR), "k");

        store.close().block();
        store.close().block();

        assertThat(store.size()).isZero();
        assertThatThrownBy(() -> take(store, Gcra.of(3, HOUR), "k"))
                .isInstanceOfSatisfying(StoreUnavailableException.class, error -> {
                    assertThat(error.reason()).isEqualTo(Reason.CLOSED);
                    assertThat(error.mayHaveCharged()).isFalse();
                });
        StepVerifier.create(store.reset("k"))
                .expectError(StoreUnavailableException.class)
                .verify();
    }

    @Test
    void theCoarseClockFollowsTheExactOne() {
        MemoryStore store = MemoryStore.builder().clock(clock).coarseClock().build();

        clock.advance(HOUR);

        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (store.nowMicros() != clock.epochMicros() && System.nanoTime() < deadline) {
            Thread.onSpinWait();
        }
        assertThat(store.nowMicros()).isEqualTo(clock.epochMicros());
        store.close().block();
    }

    @Test
    void refusesOptionsThatMakeNoSense() {
        assertThatThrownBy(() -> MemoryStore.builder().maxKeys(0)).hasMessage("maxKeys must be at least 1, was 0");
        assertThatThrownBy(() -> MemoryStore.builder().sweepInterval(Duration.ofNanos(1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> MemoryStore.builder().wheelSlots(1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> MemoryStore.builder().wheelTick(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
