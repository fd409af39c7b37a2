package io.throttlekit.bench;

import com.google.common.util.concurrent.RateLimiter;
import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.ConsumptionProbe;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import io.github.resilience4j.ratelimiter.RateLimiterRegistry;
import io.throttlekit.Clock;
import io.throttlekit.Decision;
import io.throttlekit.Strategy;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.Quota;
import io.throttlekit.strategy.SlidingWindow;
import io.throttlekit.strategy.SlidingWindowLog;
import io.throttlekit.strategy.TokenBucket;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;

/**
 * One decision in memory, by every strategy and by the peers. Every limit is so high that nothing is denied,
 * except where the name says so.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Benchmark)
public class CoreBench {
    private static final String KEY = "user-4711-abcdef";
    private static final long LIMIT = 1_000_000_000L;
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final int KEYS = 1 << 17;
    /** A unit per microsecond, and room for all the benchmark's calls. */
    private static final Gcra GCRA = Gcra.of(1_000_000, SECOND).withBurst(1_000_000_000_000L);
    /** The same with an interval of 1000/999 microseconds, which takes two more divisions. */
    private static final Gcra FRACTION = Gcra.of(999_000, SECOND).withBurst(1_000_000_000_000L);

    private final String[] keys = new String[100_000];

    private final ConcurrentMap<String, AtomicLong> floor = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, AtomicLong> floorOnTheClock = new ConcurrentHashMap<>();
    private final Clock clock = Clock.system();
    private final Limiter gcra = Limiter.of(GCRA);
    private final Limiter prefixed = Limiter.builder(GCRA).prefix("login").build();
    private final Limiter fraction = Limiter.of(FRACTION);
    private final Limiter denying = Limiter.of(Gcra.of(1, Duration.ofDays(1)));
    private final Limiter tokenBucket = Limiter.of(TokenBucket.of(LIMIT, LIMIT, SECOND));
    private final Limiter fixedWindow = Limiter.of(FixedWindow.of(LIMIT, SECOND));
    private final Limiter slidingWindow = Limiter.of(SlidingWindow.of(LIMIT, SECOND));
    private final Limiter quota = Limiter.of(Quota.monthly(1L << 52));
    private final Limiter log = Limiter.of(SlidingWindowLog.of(100_000_000, Duration.ofMillis(10)));
    private final Limiter spread = overMany(GCRA);
    private final ConcurrentMap<String, Bucket> bucket4j = new ConcurrentHashMap<>();
    private final RateLimiterRegistry resilience4j = RateLimiterRegistry.of(RateLimiterConfig.custom()
            .limitForPeriod(1_000_000_000)
            .limitRefreshPeriod(SECOND)
            .timeoutDuration(Duration.ZERO)
            .build());
    private final ConcurrentMap<String, RateLimiter> guava = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, dev.failsafe.RateLimiter<Object>> failsafe = new ConcurrentHashMap<>();

    private static Limiter overMany(Strategy<?> strategy) {
        return Limiter.builder(strategy)
                .store(MemoryStore.builder().maxKeys(KEYS).build())
                .build();
    }

    private static Bucket newBucket(String key) {
        return Bucket.builder()
                .addLimit(Bandwidth.builder()
                        .capacity(LIMIT)
                        .refillGreedy(LIMIT, SECOND)
                        .build())
                .withNanosecondPrecision()
                .build();
    }

    @Setup
    public void fill() {
        for (int i = 0; i < keys.length; i++) {
            keys[i] = String.format("user-%011d", i);
            spread.checkSync(keys[i]);
            bucket4j.put(keys[i], newBucket(keys[i]));
        }
        floor.put(KEY, new AtomicLong());
        floorOnTheClock.put(KEY, new AtomicLong());
        bucket4j.put(KEY, newBucket(KEY));
        guava.put(KEY, RateLimiter.create(1e9));
        failsafe.put(KEY, newFailsafe(KEY));
        denying.checkSync(KEY);
    }

    private static dev.failsafe.RateLimiter<Object> newFailsafe(String key) {
        return dev.failsafe.RateLimiter.smoothBuilder(1_000_000_000, SECOND).build();
    }

    private static long floor(ConcurrentMap<String, AtomicLong> map, String key) {
        AtomicLong cell = map.get(key);
        if (cell == null) {
            throw new IllegalStateException();
        }
        long now = System.nanoTime();
        long before = cell.get();
        while (!cell.compareAndSet(before, Math.max(before + 1, now))) {
            before = cell.get();
        }
        return now;
    }

    @Benchmark
    public long floor() {
        return floor(floor, KEY);
    }

    /** The floor on a clock that tells the time of day, which a limit that nodes share needs. */
    @Benchmark
    public long floorOnTheClock() {
        return floorOnTheClock(floorOnTheClock, KEY);
    }

    /** The same, and a Decision is made of it. */
    @Benchmark
    public Decision floorWithDecision() {
        long now = floorOnTheClock(floorOnTheClock, KEY);
        return Decision.allowedAt(1, LIMIT, now & 1023, now + 1, now);
    }

    private long floorOnTheClock(ConcurrentMap<String, AtomicLong> map, String key) {
        AtomicLong cell = map.get(key);
        if (cell == null) {
            throw new IllegalStateException();
        }
        long now = clock.epochMicros();
        long before = cell.get();
        while (!cell.compareAndSet(before, Math.max(before + 1, now))) {
            before = cell.get();
        }
        return now;
    }

    @Benchmark
    public Decision gcra() {
        return gcra.checkSync(KEY);
    }

    @Benchmark
    public Decision gcraMono() {
        Once once = new Once();
        gcra.check(KEY).subscribe(once);
        return once.decision();
    }

    @Benchmark
    public Decision gcraPrefixed() {
        return prefixed.checkSync(KEY);
    }

    @Benchmark
    public Decision gcraFraction() {
        return fraction.checkSync(KEY);
    }

    @Benchmark
    public Decision gcraDenied() {
        return denying.checkSync(KEY);
    }

    @Benchmark
    public Decision tokenBucket() {
        return tokenBucket.checkSync(KEY);
    }

    @Benchmark
    public Decision fixedWindow() {
        return fixedWindow.checkSync(KEY);
    }

    @Benchmark
    public Decision slidingWindow() {
        return slidingWindow.checkSync(KEY);
    }

    @Benchmark
    public Decision slidingWindowLog() {
        return log.checkSync(KEY);
    }

    @Benchmark
    public Decision quota() {
        return quota.checkSync(KEY);
    }

    private static ConsumptionProbe take(ConcurrentMap<String, Bucket> buckets, String key) {
        return buckets.computeIfAbsent(key, CoreBench::newBucket).tryConsumeAndReturnRemaining(1);
    }

    @Benchmark
    public ConsumptionProbe bucket4j() {
        return take(bucket4j, KEY);
    }

    @Benchmark
    public boolean resilience4j() {
        return resilience4j.rateLimiter(KEY).acquirePermission();
    }

    @Benchmark
    public boolean guava() {
        return guava.computeIfAbsent(KEY, key -> RateLimiter.create(1e9)).tryAcquire();
    }

    @Benchmark
    public boolean failsafe() {
        return failsafe.computeIfAbsent(KEY, CoreBench::newFailsafe).tryAcquirePermit();
    }

    @Benchmark
    @Threads(2)
    public long twoThreadsFloor() {
        return floor(floor, KEY);
    }

    @Benchmark
    @Threads(2)
    public Decision twoThreadsGcra() {
        return gcra.checkSync(KEY);
    }

    @Benchmark
    @Threads(2)
    public ConsumptionProbe twoThreadsBucket4j() {
        return take(bucket4j, KEY);
    }

    /** Walks the keys in a scattered order. */
    @State(Scope.Thread)
    public static class Walk {
        private int at;

        String next(String[] keys) {
            at = (at + 61_861) % keys.length;
            return keys[at];
        }
    }

    @Benchmark
    public Decision manyKeysGcra(Walk walk) {
        return spread.checkSync(walk.next(keys));
    }

    @Benchmark
    public ConsumptionProbe manyKeysBucket4j(Walk walk) {
        return take(bucket4j, walk.next(keys));
    }
}
