package io.throttlekit.bench;

import com.sun.management.GarbageCollectionNotificationInfo;
import io.throttlekit.Strategy;
import io.throttlekit.bench.report.Report;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.Quota;
import io.throttlekit.strategy.SlidingWindow;
import io.throttlekit.strategy.SlidingWindowLog;
import io.throttlekit.strategy.TokenBucket;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import javax.management.NotificationEmitter;
import javax.management.openmbean.CompositeData;

/** What does not fit a JMH method: ten million made-up keys, the memory of a million, and the sweep of them. */
final class Flood {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final int PROTECTED = 100;

    private Flood() {}

    /** Prints three lines, or fails if a key that was over its limit got through. */
    static void run(Report report) throws InterruptedException {
        flood(report);
        footprint(report);
        sweep(report);
    }

    private static void say(Report report, String sentence, Object... figures) {
        String said = String.format(Locale.ROOT, sentence, figures);
        System.out.println(said);
        report.note(said);
    }

    private static boolean take(MemoryStore store, Strategy<?> strategy, String key) {
        return store.applySync(key, strategy.check(1, 1)).allowed();
    }

    private static void flood(Report report) throws InterruptedException {
        List<Strategy<?>> strategies = List.of(
                Gcra.of(2, HOUR),
                TokenBucket.of(2, 2, HOUR),
                FixedWindow.of(2, Duration.ofDays(1)),
                SlidingWindow.of(2, HOUR),
                SlidingWindowLog.of(2, HOUR),
                Quota.monthly(2));
        int maxKeys = 100_000;
        MemoryStore store = MemoryStore.builder().maxKeys(maxKeys).build();
        for (Strategy<?> strategy : strategies) {
            for (int i = 0; i < PROTECTED; i++) {
                take(store, strategy, strategy.name() + i);
                take(store, strategy, strategy.name() + i);
            }
        }
        for (int i = 0; i < maxKeys; i++) {
            take(store, strategies.get(i % strategies.size()), "fill-" + i);
        }
        long heapBefore = usedHeap();
        long start = System.nanoTime();
        CountDownLatch done = new CountDownLatch(2);
        for (int thread = 0; thread < 2; thread++) {
            String name = "flood-" + thread + "-";
            new Thread(() -> {
                        for (int i = 0; i < 5_000_000; i++) {
                            take(store, strategies.get(i % strategies.size()), name + i);
                        }
                        done.countDown();
                    })
                    .start();
        }
        done.await();
        double seconds = (System.nanoTime() - start) / 1e9;
        long heapAfter = usedHeap();
        int lost = 0;
        for (Strategy<?> strategy : strategies) {
            for (int i = 0; i < PROTECTED; i++) {
                lost += take(store, strategy, strategy.name() + i) ? 1 : 0;
            }
        }
        say(
                report,
                "10,000,000 new keys through %,d from 2 threads: %.1f s, heap %d -> %d MB, %d keys, %d of %d exhausted keys lost",
                maxKeys,
                seconds,
                heapBefore >> 20,
                heapAfter >> 20,
                store.size(),
                lost,
                strategies.size() * PROTECTED);
        if (lost > 0) {
            throw new IllegalStateException("a flood washed away keys that were over their limit");
        }
        store.close().subscribe();
    }

    private static void footprint(Report report) {
        int count = 1_000_000;
        String[] keys = new String[count];
        for (int i = 0; i < count; i++) {
            keys[i] = String.format("user-%011d", i);
        }
        MemoryStore store = MemoryStore.builder().maxKeys(count).build();
        Gcra strategy = Gcra.of(2, HOUR);
        long before = usedHeap();
        for (String key : keys) {
            take(store, strategy, key);
        }
        say(
                report,
                "1,000,000 GCRA keys of 16 characters: %d bytes per key, besides the key itself",
                (usedHeap() - before) / store.size());
        store.close().subscribe();
    }

    /** Checks one key at full speed while a million others expire and are swept. */
    private static void sweep(Report report) {
        MemoryStore store = MemoryStore.builder()
                .unbounded()
                .sweepInterval(Duration.ofMillis(200))
                .wheelTick(Duration.ofMillis(100))
                .build();
        Gcra brief = Gcra.of(1, Duration.ofSeconds(2)).withBurst(2);
        Gcra hot = Gcra.of(1_000_000, Duration.ofSeconds(1)).withBurst(1_000_000_000_000L);
        for (int i = 0; i < 1_000_000; i++) {
            take(store, brief, "k" + i);
        }
        Pauses pauses = new Pauses();
        long worst = 0;
        int added = 0;
        while (store.size() > added + 1) {
            long start = System.nanoTime();
            take(store, hot, "hot");
            take(store, hot, "new" + added++);
            worst = Math.max(worst, System.nanoTime() - start);
        }
        say(
                report,
                "sweep of 1,000,000 expired keys: the slowest of %,d checks beside it took %.1f ms; the longest pause of the"
                        + " garbage collector in that time was %d ms",
                added,
                worst / 1e6,
                pauses.longestMillis());
        store.close().subscribe();
    }

    /** How long the collector stopped everybody, from now on. */
    private static final class Pauses {
        private final AtomicLong longest = new AtomicLong();

        Pauses() {
            for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
                ((NotificationEmitter) collector)
                        .addNotificationListener(
                                (notification, ignored) -> longest.accumulateAndGet(
                                        GarbageCollectionNotificationInfo.from(
                                                        (CompositeData) notification.getUserData())
                                                .getGcInfo()
                                                .getDuration(),
                                        Math::max),
                                null,
                                null);
            }
        }

        long longestMillis() {
            return longest.get();
        }
    }

    private static long usedHeap() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
