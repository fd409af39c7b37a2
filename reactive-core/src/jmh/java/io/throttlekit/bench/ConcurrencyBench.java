package io.throttlekit.bench;

import com.netflix.concurrency.limits.Limit;
import com.netflix.concurrency.limits.Limiter;
import com.netflix.concurrency.limits.limit.AIMDLimit;
import com.netflix.concurrency.limits.limit.Gradient2Limit;
import com.netflix.concurrency.limits.limiter.SimpleLimiter;
import io.throttlekit.concurrency.AdaptiveConcurrency;
import io.throttlekit.concurrency.ConcurrencyGuard;
import io.throttlekit.concurrency.Lease;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;

/** A place taken and given back as a success, by us and by SimpleLimiter of concurrency-limits. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Benchmark)
public class ConcurrencyBench {
    private final ConcurrencyGuard gradient2 =
            AdaptiveConcurrency.gradient2().initialLimit(20).build();
    private final ConcurrencyGuard aimd =
            AdaptiveConcurrency.aimd().initialLimit(20).build();
    private final Limiter<Void> theirGradient2 = simple(Gradient2Limit.newBuilder()
            .initialLimit(20)
            .minLimit(4)
            .maxConcurrency(512)
            .build());
    private final Limiter<Void> theirAimd =
            simple(AIMDLimit.newBuilder().initialLimit(20).build());

    private static Limiter<Void> simple(Limit limit) {
        return SimpleLimiter.newBuilder().limit(limit).build();
    }

    private static boolean once(ConcurrencyGuard guard) {
        Lease lease = guard.acquire();
        lease.release();
        return lease.ok();
    }

    private static boolean once(Limiter<Void> limiter) {
        Limiter.Listener listener = limiter.acquire(null).orElseThrow();
        listener.onSuccess();
        return true;
    }

    @Benchmark
    public boolean gradient2() {
        return once(gradient2);
    }

    @Benchmark
    public boolean gradient2SimpleLimiter() {
        return once(theirGradient2);
    }

    @Benchmark
    public boolean aimd() {
        return once(aimd);
    }

    @Benchmark
    public boolean aimdSimpleLimiter() {
        return once(theirAimd);
    }

    @Benchmark
    @Threads(2)
    public boolean twoThreadsGradient2() {
        return once(gradient2);
    }

    @Benchmark
    @Threads(2)
    public boolean twoThreadsGradient2SimpleLimiter() {
        return once(theirGradient2);
    }

    @Benchmark
    @Threads(2)
    public boolean twoThreadsAimd() {
        return once(aimd);
    }

    @Benchmark
    @Threads(2)
    public boolean twoThreadsAimdSimpleLimiter() {
        return once(theirAimd);
    }
}
