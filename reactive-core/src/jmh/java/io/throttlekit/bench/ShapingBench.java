package io.throttlekit.bench;

import io.throttlekit.shaping.LeakyBucket;
import io.throttlekit.shaping.Shaper;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What an operator costs per element where nothing has to wait. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Benchmark)
public class ShapingBench {
    private static final int ELEMENTS = 10_000;

    /** A unit per nanosecond: the line is always ahead of whoever comes. */
    private final Shaper shaper = LeakyBucket.of(1_000_000_000, Duration.ofSeconds(1))
            .maxQueue(Duration.ofHours(1))
            .build();

    private final Flux<Integer> fused = Flux.range(0, ELEMENTS);
    private final Flux<Integer> plain = fused.hide();

    @Benchmark
    @OperationsPerInvocation(ELEMENTS)
    public Object pace() {
        return plain.transform(shaper.pace("k")).blockLast();
    }

    @Benchmark
    @OperationsPerInvocation(ELEMENTS)
    public Object paceByKey() {
        return plain.transform(shaper.paceBy(n -> (n & 1) == 0 ? "a" : "b")).blockLast();
    }

    @Benchmark
    @OperationsPerInvocation(ELEMENTS)
    public Object concatMapJust() {
        return plain.concatMap(Mono::just).blockLast();
    }

    /** The source fuses with concatMap, which then has no queue of its own. */
    @Benchmark
    @OperationsPerInvocation(ELEMENTS)
    public Object concatMapJustFused() {
        return fused.concatMap(Mono::just).blockLast();
    }
}
