package io.throttlekit.bench;

import java.nio.file.Path;
import java.util.Map;
import org.openjdk.jmh.runner.options.TimeValue;

/** Runs the core's benchmarks and prints their medians, the ratios that matter last. */
public final class BenchMain {
    private BenchMain() {}

    /** Runs one suite; {@code -Dbench.args} may give a pattern of method names and a number of rounds. */
    public static void main(String[] args) throws Exception {
        String[] more = System.getProperty("bench.args", "").trim().split("\\s+");
        String pattern = more[0].isEmpty() ? ".*" : more[0];
        int rounds = more.length > 1 ? Integer.parseInt(more[1]) : 5;
        switch (args[0]) {
            case "shaping" -> shaping(pattern, rounds);
            case "twotier" -> twoTier(pattern, rounds);
            case "concurrency" -> concurrency(pattern, rounds);
            default -> core(pattern, rounds);
        }
    }

    /** How departures are spread over time, then what an element costs that need not wait. */
    private static void shaping(String pattern, int rounds) throws Exception {
        Departures.run(Path.of("reactive-core/src/jmh/departures.svg"));
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
    private static void concurrency(String pattern, int rounds) throws Exception {
        Map<String, Interleaved.Result> results = measure("ConcurrencyBench", pattern, rounds);
        print("acquire + release", results);
        for (String name : new String[] {"gradient2", "aimd", "twoThreadsGradient2", "twoThreadsAimd"}) {
            ratio(results, name, name + "SimpleLimiter", 1);
        }
    }

    private static void print(String what, Map<String, Interleaved.Result> results) {
        System.out.printf("%n%-22s %10s %8s%n", what, "ns/op", "B/op");
        results.forEach(
                (name, result) -> System.out.printf("%-22s %10.1f %8.0f%n", name, result.nanos(), result.bytes()));
        System.out.println();
    }

    private static Map<String, Interleaved.Result> measure(String suite, String pattern, int rounds) throws Exception {
        return new Interleaved()
                .run(
                        suite + "\\.(" + pattern + ")$",
                        rounds,
                        10,
                        TimeValue.milliseconds(200),
                        5,
                        TimeValue.milliseconds(200));
    }

    private static void twoTier(String pattern, int rounds) throws Exception {
        Map<String, Interleaved.Result> results = measure("TwoTierBench", pattern, rounds);
        print("one decision", results);
        ratio(results, "leasedHit", "memoryGcra", 1.3);
        ratio(results, "twoThreadsLeasedHit", "twoThreadsMemoryGcra", 1.3);
    }

    /** What a decision in memory costs, and what a flood, a million keys and a sweep do to the store. */
    private static void core(String pattern, int rounds) throws Exception {
        Map<String, Interleaved.Result> results = measure("CoreBench", pattern, rounds);
        Flood.run();
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
        Interleaved.Result mono = results.get("gcraMono");
        Interleaved.Result sync = results.get("gcra");
        if (mono != null && sync != null) {
            System.out.printf("gcraMono - gcra = %.1f ns (bar 20 ns)%n", mono.nanos() - sync.nanos());
        }
    }

    private static void ratio(Map<String, Interleaved.Result> results, String ours, String theirs, double bar) {
        Interleaved.Result a = results.get(ours);
        Interleaved.Result b = results.get(theirs);
        if (a != null && b != null) {
            System.out.printf("%s / %s = %.2f (bar %.1f)%n", ours, theirs, a.nanos() / b.nanos(), bar);
        }
    }
}
