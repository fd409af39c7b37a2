package io.throttlekit.bench;

import io.throttlekit.Decision;
import io.throttlekit.limiter.LeaseOptions;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.limiter.TwoTier;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.Gcra;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;

/** A check that is served from leased credits, against a check in memory; both as a subscribed {@code Mono}. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Benchmark)
public class TwoTierBench {
    private static final String KEY = "user-4711-abcdef";
    private static final Gcra GCRA = Gcra.of(1_000_000, Duration.ofSeconds(1)).withBurst(1_000_000_000_000L);

    private final Limiter memory = Limiter.of(GCRA);
    /** Leases all at once, so that only hits are measured. */
    private final Limiter leased = TwoTier.leased(GCRA, MemoryStore.create(), LeaseOptions.batch(1_000_000_000_000L))
            .build();

    private final Limiter batches =
            TwoTier.leased(GCRA, MemoryStore.create(), LeaseOptions.batch(100)).build();

    @Setup
    public void lease() {
        take(leased);
    }

    private static Decision take(Limiter limiter) {
        Once once = new Once();
        limiter.check(KEY).subscribe(once);
        return once.decision();
    }

    @Benchmark
    public Decision memoryGcra() {
        return take(memory);
    }

    @Benchmark
    public Decision leasedHit() {
        return take(leased);
    }

    @Benchmark
    public Decision leasedBatch100() {
        return take(batches);
    }

    @Benchmark
    @Threads(2)
    public Decision twoThreadsMemoryGcra() {
        return take(memory);
    }

    @Benchmark
    @Threads(2)
    public Decision twoThreadsLeasedHit() {
        return take(leased);
    }
}
