package io.throttlekit.bench;

import io.throttlekit.bench.report.Bar;
import io.throttlekit.bench.report.Defaults;
import io.throttlekit.bench.report.Report;
import io.throttlekit.bench.report.Table;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.runner.options.TimeValue;

/** Runs the core's benchmarks and prints their medians, the ratios that matter last. */
public final class BenchMain {
    private static final List<String> SUITES = List.of("core", "twotier", "shaping", "concurrency");

    private final String pattern;
    private final int rounds;
    private final Report report;

    private BenchMain(String suite, String pattern, int rounds) {
        this.report = Report.of(suite);
        this.pattern = pattern;
        this.rounds = rounds;
    }

    /** Runs one suite or all; {@code -Dbench.args} may give a pattern of method names and a number of rounds. */
    public static void main(String[] args) throws Exception {
        String pattern = Defaults.word(args, 0, ".*", ".*");
        int rounds = (int) Defaults.number(args, 1, 5, 3);
        for (String suite : Defaults.all(args) ? SUITES : List.of(args[0])) {
            BenchMain bench = new BenchMain(suite, pattern, rounds);
            switch (suite) {
                case "shaping" -> bench.shaping(picture(args));
                case "twotier" -> bench.twoTier();
                case "concurrency" -> bench.concurrency();
                default -> bench.core();
            }
            bench.report.write();
        }
    }

    /** The picture in the repository is only of a run for its own sake. */
    private static Path picture(String[] args) {
        return Defaults.all(args)
                ? Path.of(System.getProperty("bench.directory"), "departures.svg")
                : Path.of("reactive-core/src/jmh/departures.svg");
    }

    /** How departures are spread over time, then what an element costs that need not wait. */
    private void shaping(Path picture) throws Exception {
        Departures.run(picture, report);
        Map<String, Interleaved.Result> results = new Interleaved()
                .run(
                        "ShapingBench\\.(" + pattern + ")$",
                        rounds,
                        10,
                        TimeValue.milliseconds(300),
                        5,
                        TimeValue.milliseconds(300));
        print("one element", results);
        ratio(results, "pace", "concatMapJust", 2);
        ratio(results, "paceByKey", "concatMapJust", 2);
        ratio(results, "pace", "concatMapJustFused", 2);
    }

    /** A place taken and given back, beside SimpleLimiter with the law of the same name. */
    private void concurrency() throws Exception {
        Map<String, Interleaved.Result> results = measure("ConcurrencyBench");
        print("acquire + release", results);
        for (String name : new String[] {"gradient2", "aimd", "twoThreadsGradient2", "twoThreadsAimd"}) {
            ratio(results, name, name + "SimpleLimiter", 1);
        }
    }

    private void print(String what, Map<String, Interleaved.Result> results) {
        System.out.printf("%n%-22s %10s %8s%n", what, "ns/op", "B/op");
        Table table = report.table(what, "ns/op", "B/op");
        results.forEach((name, result) -> {
            System.out.printf("%-22s %10.1f %8.0f%n", name, result.nanos(), result.bytes());
            table.row(name, result.nanos(), result.bytes());
        });
        System.out.println();
    }

    private Map<String, Interleaved.Result> measure(String suite) throws Exception {
        return new Interleaved()
                .run(
                        suite + "\\.(" + pattern + ")$",
                        rounds,
                        10,
                        TimeValue.milliseconds(200),
                        5,
                        TimeValue.milliseconds(200));
    }

    private void twoTier() throws Exception {
        Map<String, Interleaved.Result> results = measure("TwoTierBench");
        print("one decision", results);
        ratio(results, "leasedHit", "memoryGcra", 1.3);
        ratio(results, "twoThreadsLeasedHit", "twoThreadsMemoryGcra", 1.3);
    }

    /** What a decision in memory costs, and what a flood, a million keys and a sweep do to the store. */
    private void core() throws Exception {
        Map<String, Interleaved.Result> results = measure("CoreBench");
        Flood.run(report);
        print("one decision", results);
        ratio(results, "gcra", "floor", 1.2);
        ratio(results, "gcra", "floorWithDecision", 1.2);
        ratio(results, "gcra", "bucket4j", 0.8);
        for (String name : new String[] {"gcraDenied", "tokenBucket", "fixedWindow"}) {
            ratio(results, name, "floor", 2.5);
        }
        ratio(results, "slidingWindow", "floor", 3);
        ratio(results, "quota", "floor", 3);
        ratio(results, "twoThreadsGcra", "twoThreadsBucket4j", 0.6);
        ratio(results, "manyKeysGcra", "manyKeysBucket4j", 0.8);
        for (String peer : new String[] {"resilience4j", "guava", "failsafe"}) {
            ratio(results, "gcra", peer, Double.NaN);
        }
        Interleaved.Result mono = results.get("gcraMono");
        Interleaved.Result sync = results.get("gcra");
        if (mono != null && sync != null) {
            double more = mono.nanos() - sync.nanos();
            System.out.printf("gcraMono - gcra = %.1f ns (bar 20 ns)%n", more);
            report.ratio("gcraMono - gcra, ns", more, Bar.atMost(20));
        }
    }

    private void ratio(Map<String, Interleaved.Result> results, String ours, String theirs, double bar) {
        Interleaved.Result a = results.get(ours);
        Interleaved.Result b = results.get(theirs);
        if (a != null && b != null) {
            double ratio = a.nanos() / b.nanos();
            System.out.printf(
                    "%s / %s = %.2f%s%n",
                    ours, theirs, ratio, Double.isNaN(bar) ? "" : String.format(" (bar %.1f)", bar));
            report.ratio(ours + " / " + theirs, ratio, new Bar(bar, true));
        }
    }
}
