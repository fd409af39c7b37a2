package io.throttlekit.bench;

import java.util.Map;
import org.openjdk.jmh.runner.options.TimeValue;

/** Runs the core's benchmarks and prints their medians, the ratios that matter last. */
public final class BenchMain {
    private BenchMain() {}

    /** Runs one suite; {@code -Dbench.args} may give a pattern of method names and a number of rounds. */
    public static void main(String[] args) throws Exception {
        String suite = args.length == 0 ? "core" : args[0];
        String[] more = System.getProperty("bench.args", "").trim().split("\\s+");
        String pattern = more[0].isEmpty() ? ".*" : more[0];
        int rounds = more.length > 1 ? Integer.parseInt(more[1]) : 5;
        boolean concurrency = suite.equals("concurrency");
        Map<String, Interleaved.Result> results = new Interleaved()
                .run(
                        (concurrency ? "ConcurrencyBench" : "CoreBench") + "\\.(" + pattern + ")$",
                        rounds,
                        10,
                        TimeValue.milliseconds(500),
                        5,
                        TimeValue.milliseconds(300));
        System.out.printf("%n%-22s %10s %8s%n", concurrency ? "acquire + release" : "one decision", "ns/op", "B/op");
        results.forEach(
                (name, result) -> System.out.printf("%-22s %10.1f %8.0f%n", name, result.nanos(), result.bytes()));
        System.out.println();
        if (concurrency) {
            concurrency(results);
        } else {
            core(results);
        }
    }

    private static void concurrency(Map<String, Interleaved.Result> results) {
        for (String name : new String[] {"gradient2", "aimd", "twoThreadsGradient2", "twoThreadsAimd"}) {
            ratio(results, name, name + "SimpleLimiter", 1);
        }
    }

    private static void core(Map<String, Interleaved.Result> results) {
        ratio(results, "gcra", "floor", 1.2);
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
