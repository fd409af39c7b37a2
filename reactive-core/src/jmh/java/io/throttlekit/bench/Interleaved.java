package io.throttlekit.bench;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs benchmarks in rounds, one fork of each per round, and keeps the median fork.
 *
 * <p>Forks of one benchmark differ by 15 to 20 % on a small machine, and a machine's speed drifts. In
 * rounds, what is compared ran within the same minutes.
 */
final class Interleaved {
    /** Medians of one benchmark: time and bytes allocated, per operation. */
    record Result(double nanos, double bytes) {}

    private final Map<String, List<Double>> nanos = new TreeMap<>();
    private final Map<String, List<Double>> bytes = new TreeMap<>();

    /** Runs every benchmark whose name matches, and returns the medians by method name. */
    Map<String, Result> run(String include, int rounds, int warmups, TimeValue warmup, int measures, TimeValue measure)
            throws RunnerException {
        for (int round = 1; round <= rounds; round++) {
            Options options = new OptionsBuilder()
                    .include(include)
                    .forks(1)
                    .warmupIterations(warmups)
                    .warmupTime(warmup)
                    .measurementIterations(measures)
                    .measurementTime(measure)
                    .addProfiler(GCProfiler.class)
                    .verbosity(VerboseMode.SILENT)
                    .jvmArgs("-Xms1g", "-Xmx1g")
                    .build();
            add(new Runner(options).run());
            System.err.println("round " + round + " of " + rounds + " done");
        }
        Map<String, Result> results = new TreeMap<>();
        nanos.forEach((name, values) -> results.put(name, new Result(median(values), median(bytes.get(name)))));
        return results;
    }

    private void add(Collection<RunResult> runs) {
        for (RunResult run : runs) {
            String full = run.getParams().getBenchmark();
            String name = full.substring(full.lastIndexOf('.') + 1);
            nanos.computeIfAbsent(name, n -> new ArrayList<>())
                    .add(run.getPrimaryResult().getScore());
            run.getSecondaryResults().forEach((label, result) -> {
                if (label.endsWith("gc.alloc.rate.norm")) {
                    bytes.computeIfAbsent(name, n -> new ArrayList<>()).add(result.getScore());
                }
            });
        }
    }

    private static double median(List<Double> values) {
        List<Double> sorted = new ArrayList<>(values);
        Collections.sort(sorted);
        return sorted.get(sorted.size() / 2);
    }
}
