package io.throttlekit.bench;

import io.throttlekit.bench.report.Bar;
import io.throttlekit.bench.report.Defaults;
import io.throttlekit.bench.report.Report;
import io.throttlekit.bench.report.Table;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/**
 * Measures the CPU time per request of the same endpoint without anything in front of it, with a filter that does
 * nothing, with one that adds two constant fields to the response in the way that the limit does it, and with a limit in
 * memory.
 *
 * <p>What the compiler makes of the same code differs from process to process by more than a limit costs, and so
 * does a machine from one minute to the next. So all four are served by one process, at a port each, and take turns
 * there of a twentieth of a second each, in changing order: what else the machine does rarely changes within a round of
 * them. A round gives a ratio, a process gives the median of its rounds, and several processes give the mean of
 * theirs.
 *
 * <p>All turns of a process offer the same load: a request at a time, equally spaced, at half of what the endpoint
 * answers when it is asked without a pause. A server that is always busy answers several requests per turn of its
 * event loop, the more the slower it is, and so hides what made it slow; a server with hardly anything to do spends its
 * time on waking up. Half is where servers are run. The ratios without a pause are told as well.
 */
public final class BenchMain {
    private static final double BAR = 1.05;
    private static final String WHY =
            "of which a filter that does nothing and two constant fields take what the next lines say";
    private static final SortedMap<String, BenchServer.Front> PARTS = new TreeMap<>(Map.of(
            "a filter that does nothing",
            BenchServer.Front.EMPTY,
            "a filter with two constant fields",
            BenchServer.Front.FIELDS));

    private static final int TURNS_PER_SECOND = 20;
    private static final int BUSY_ROUNDS = 40;
    private static final int WARM_UP_TURNS = 20;

    private BenchMain() {}

    /**
     * {@code -Dbench.args} may give a number of rounds, of requests to warm each endpoint up with, and of processes of
     * each kind: as long as a server's code is being compiled, the compiler is what its CPU time is spent on.
     */
    public static void main(String[] args) throws Exception {
        int rounds = (int) Defaults.number(args, 0, 200, 60);
        int warmUp = (int) Defaults.number(args, 1, 150_000, 80_000);
        int processes = (int) Defaults.number(args, 2, 3, 2);
        Report report = Report.of("http");
        Table table =
                report.table("server", "requests/s", "none us/request", "empty", "fields", "limit", "limit / none");
        for (BenchServer.Kind kind : BenchServer.Kind.values()) {
            List<Result> results = new ArrayList<>();
            for (int i = 1; i <= processes; i++) {
                Result result = measure(kind, rounds, warmUp);
                results.add(result);
                String name = kind.text + ", process " + i;
                double[] row = {
                    result.rate,
                    result.paced.micros(BenchServer.Front.NONE),
                    result.paced.micros(BenchServer.Front.EMPTY),
                    result.paced.micros(BenchServer.Front.FIELDS),
                    result.paced.micros(BenchServer.Front.LIMIT),
                    limit(result.paced)
                };
                table.row(name, row);
                System.out.printf(
                        Locale.ROOT,
                        "%-20s %,7.0f requests/s: none %.2f, empty %.2f, fields %.2f, limit %.2f us/request;"
                                + " limit / none %.3f%n",
                        name,
                        row[0],
                        row[1],
                        row[2],
                        row[3],
                        row[4],
                        row[5]);
            }
            report(report, kind, results);
        }
        report.write();
    }

    private static Result measure(BenchServer.Kind kind, int rounds, int warmUp) throws Exception {
        try (ServerProcess server = ServerProcess.start(kind)) {
            for (int i = 0; i < WARM_UP_TURNS; i++) {
                for (BenchServer.Front front : BenchServer.Front.values()) {
                    server.turn(front, warmUp / WARM_UP_TURNS, 0);
                }
            }
            long start = System.nanoTime();
            server.turn(BenchServer.Front.NONE, warmUp / WARM_UP_TURNS, 0);
            double most = warmUp / WARM_UP_TURNS * 1e9 / (System.nanoTime() - start);
            Turns busy = turns(server, BUSY_ROUNDS, (int) (most / TURNS_PER_SECOND), 0);
            double rate = most / 2;
            Turns paced = turns(server, rounds, (int) (rate / TURNS_PER_SECOND), (long) (1e9 / rate));
            return new Result(rate, paced, busy);
        }
    }

    private static Turns turns(ServerProcess server, int rounds, int requests, long intervalNanos) throws IOException {
        Turns turns = new Turns();
        for (int i = 0; i < rounds; i++) {
            for (BenchServer.Front front : order(i)) {
                turns.add(front, server.turn(front, requests, intervalNanos) / 1e3 / requests);
            }
        }
        return turns;
    }

    /** Each at each place, and each before each other as often as after it. */
    private static List<BenchServer.Front> order(int round) {
        List<BenchServer.Front> order = new ArrayList<>(List.of(BenchServer.Front.values()));
        Collections.rotate(order, round);
        if (round / order.size() % 2 == 1) {
            Collections.reverse(order);
        }
        return order;
    }

    private static void report(Report report, BenchServer.Kind kind, List<Result> results) {
        ratio(report, kind, "limit / none", Bar.atMost(BAR), results, result -> limit(result.paced));
        for (Map.Entry<String, BenchServer.Front> part : PARTS.entrySet()) {
            ratio(
                    report,
                    kind,
                    part.getKey() + " / none",
                    Bar.NONE,
                    results,
                    result -> result.paced.ratio(part.getValue(), BenchServer.Front.NONE));
        }
        ratio(report, kind, "limit / none, without a pause", Bar.NONE, results, result -> limit(result.busy));
    }

    private static double limit(Turns turns) {
        return turns.ratio(BenchServer.Front.LIMIT, BenchServer.Front.NONE);
    }

    private static void ratio(
            Report report,
            BenchServer.Kind kind,
            String name,
            Bar bar,
            List<Result> results,
            ToDoubleFunction<Result> ratio) {
        double mean = results.stream().mapToDouble(ratio).average().orElseThrow();
        System.out.printf(Locale.ROOT, "%s: %s = %.3f %s%n", kind.text, name, mean, bar);
        report.ratio(kind.text + ": " + name, mean, bar, bar == Bar.NONE ? "" : WHY);
    }

    private record Result(double rate, Turns paced, Turns busy) {}

    /** Microseconds of CPU time per request, turn by turn. */
    private static final class Turns {
        private final Map<BenchServer.Front, List<Double>> micros = new EnumMap<>(BenchServer.Front.class);

        void add(BenchServer.Front front, double perRequest) {
            micros.computeIfAbsent(front, none -> new ArrayList<>()).add(perRequest);
        }

        double micros(BenchServer.Front front) {
            return median(micros.get(front));
        }

        /** The median of the ratios within a round. */
        double ratio(BenchServer.Front over, BenchServer.Front under) {
            List<Double> ratios = new ArrayList<>();
            for (int i = 0; i < micros.get(over).size(); i++) {
                ratios.add(micros.get(over).get(i) / micros.get(under).get(i));
            }
            return median(ratios);
        }

        private static double median(List<Double> values) {
            List<Double> sorted = values.stream().sorted().toList();
            int half = sorted.size() / 2;
            return sorted.size() % 2 == 1 ? sorted.get(half) : (sorted.get(half - 1) + sorted.get(half)) / 2;
        }
    }
}
