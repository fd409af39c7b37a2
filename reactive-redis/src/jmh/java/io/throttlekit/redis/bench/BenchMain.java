package io.throttlekit.redis.bench;

import io.throttlekit.Dialect;
import io.throttlekit.Program;
import io.throttlekit.bench.report.Bar;
import io.throttlekit.bench.report.Defaults;
import io.throttlekit.bench.report.Report;
import io.throttlekit.bench.report.Table;
import io.throttlekit.conformance.RedisServer;
import io.throttlekit.conformance.RedisServers;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.redis.RedisStore;
import io.throttlekit.strategy.Gcra;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.redis.client.RedisOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/**
 * Checks per second through one store, against a bare pipelined loop of EVALSHA with the same script, against the
 * peers that limit in Redis, and against {@code redis-benchmark} where that is installed; each on the same server,
 * which it starts.
 *
 * <p>A fixed number of requests in flight: every answer starts the next. Ours, the bare loop, Bucket4j and the
 * gateway's script have one connection that pipelines; Redisson takes a connection per command, of a pool that has
 * one for each in flight. The contenders take turns in short rounds and the medians count, since a machine's speed
 * drifts. {@code -Dbench.args="ROUNDS SECONDS"} changes 5 rounds of 1 second.
 */
public final class BenchMain {
    private static final int[] IN_FLIGHT = {1, 16, 128};
    private static final int KEYS = 1_000;
    private static final String[] HOT = {"hot"};
    private static final Gcra STRATEGY = Gcra.of(1_000_000_000, Duration.ofSeconds(1));
    private static final String BATCHING = "Bucket4j, batching";
    private static final String WHY_BATCHING =
            "it merges the calls that wait in this process into one; so does TwoTier.leased, see twotier";
    private static final String WHY_BARE =
            "a limiter also builds a Decision, has a deadline per call and counts what is in flight";

    /** What is measured: whose checks, on how many keys, how many at a time. */
    private record Case(String contender, boolean hot, int inFlight) {}

    private final Map<Case, List<Loop.Result>> results = new LinkedHashMap<>();
    private final int rounds;
    private final Duration span;

    private BenchMain(int rounds, Duration span) {
        this.rounds = rounds;
        this.span = span;
    }

    /** Runs one suite or both. */
    public static void main(String[] args) throws Exception {
        int rounds = (int) Defaults.number(args, 0, 5, 3);
        Duration span = Duration.ofMillis((long) (1000 * Defaults.number(args, 1, 1, 0.8)));
        try {
            if (!args[0].equals("twotier")) {
                new BenchMain(rounds, span).run();
            }
            if (!args[0].equals("redis")) {
                TwoTierRates.run(rounds, span);
            }
        } catch (Throwable e) {
            // The peers have threads that would keep the process alive.
            e.printStackTrace();
            System.exit(1);
        }
        System.exit(0);
    }

    private void run() throws Exception {
        String[] uniform = new String[KEYS];
        for (int i = 0; i < KEYS; i++) {
            uniform[i] = String.format(Locale.ROOT, "user-%06d", i);
        }
        Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
        try (RedisServer server = RedisServers.own();
                Peers peers = new Peers(server.uri(), IN_FLIGHT[IN_FLIGHT.length - 1])) {
            RedisOptions options = new RedisOptions().setConnectionString(server.uri());
            RedisStore store = RedisStore.builder(vertx, options)
                    .connections(1)
                    .deadline(Duration.ofSeconds(10))
                    .build();
            Limiter limiter = Limiter.builder(STRATEGY).store(store).build();
            Program<?> program = Objects.requireNonNull(STRATEGY.check(1, 1).program());
            String script = Objects.requireNonNull(program.text(Dialect.REDIS_LUA));
            Map<String, Function<String[], Loop>> contenders = new LinkedHashMap<>();
            contenders.put("bare", keys -> new BareLoop(vertx, options, program, script, keys));
            contenders.put("store", keys -> new StoreLoop(limiter, keys));
            contenders.put("Bucket4j", keys -> new FutureLoop(peers.bucket4j(keys)));
            contenders.put(BATCHING, keys -> new FutureLoop(peers.bucket4jBatching(keys)));
            contenders.put("Redisson", keys -> new FutureLoop(peers.redisson(keys)));
            contenders.put("Gateway's script", keys -> new FutureLoop(peers.gateway(keys)));
            for (int round = 0; round <= rounds; round++) {
                for (int inFlight : IN_FLIGHT) {
                    contenders.forEach((name, loop) -> {
                        // It merges what waits for the same key: nothing, where keys are many.
                        if (!name.equals(BATCHING)) {
                            measure(new Case(name, false, inFlight), loop.apply(uniform));
                        }
                        measure(new Case(name, true, inFlight), loop.apply(HOT));
                    });
                }
                if (round == 0) {
                    // It warmed up.
                    results.clear();
                }
                System.err.println("round " + round + " of " + rounds + " done");
            }
            store.close().block();
            List<Double> tool = RedisBenchmark.rounds(server, program, script, rounds);
            print(tool);
        } finally {
            vertx.close();
        }
    }

    private void measure(Case measured, Loop loop) {
        results.computeIfAbsent(measured, c -> new ArrayList<>()).add(loop.run(measured.inFlight(), span));
    }

    private void print(List<Double> tool) throws IOException {
        Report report = Report.of("redis")
                .note("Checks per second on one Redis: one hot key, or 1,000 keys. Medians of " + rounds + " rounds.");
        for (boolean hot : new boolean[] {false, true}) {
            String title = hot ? "one hot key" : "uniform keys";
            System.out.printf("%n%-18s %9s %12s %10s %10s%n", title, "in flight", "checks/s", "p50 us", "p99 us");
            Table table = report.table(title, "in flight", "checks/s", "p50 us", "p99 us");
            results.forEach((measured, list) -> {
                if (measured.hot() == hot) {
                    double rate = rate(measured.contender(), hot, measured.inFlight());
                    double p50 =
                            median(list.stream().map(Loop.Result::p50Micros).toList());
                    double p99 =
                            median(list.stream().map(Loop.Result::p99Micros).toList());
                    System.out.printf(
                            "%-18s %9d %,12.0f %10.0f %10.0f%n",
                            measured.contender(), measured.inFlight(), rate, p50, p99);
                    table.row(measured.contender(), measured.inFlight(), rate, p50, p99);
                }
            });
        }
        if (tool.isEmpty()) {
            System.out.println("redis-benchmark is not installed");
        } else {
            System.out.printf("%-18s %9d %,12.0f%n", "redis-benchmark", 128, median(tool));
        }
        System.out.println();
        for (int inFlight : IN_FLIGHT) {
            ratio(report, false, inFlight, "bare", inFlight == 128 ? Bar.atLeast(0.8) : Bar.NONE, WHY_BARE);
        }
        if (!tool.isEmpty()) {
            System.out.printf(
                    "bare / redis-benchmark at 128 in flight = %.2f%n", rate("bare", false, 128) / median(tool));
        }
        for (int inFlight : IN_FLIGHT) {
            // Alone, nobody contends: then it is two round trips against one.
            Bar bar = inFlight > 1 ? Bar.atLeast(3) : Bar.NONE;
            ratio(report, true, inFlight, "Bucket4j", bar, "");
        }
        ratio(report, true, 128, BATCHING, Bar.NONE, WHY_BATCHING);
        for (String peer : List.of("Redisson", "Gateway's script")) {
            ratio(report, true, 128, peer, Bar.NONE, "");
        }
        for (String peer : List.of("Bucket4j", "Redisson", "Gateway's script")) {
            ratio(report, false, 128, peer, Bar.NONE, "");
        }
        report.write();
    }

    private void ratio(Report report, boolean hot, int inFlight, String other, Bar bar, String reason) {
        String name = String.format(
                Locale.ROOT, "store / %s, %s, %d in flight", other, hot ? "one hot key" : "uniform keys", inFlight);
        double ratio = rate("store", hot, inFlight) / rate(other, hot, inFlight);
        System.out.printf("%s = %.2f%s%n", name, ratio, bar == Bar.NONE ? "" : " (bar " + bar.value() + ")");
        report.ratio(name, ratio, bar, reason);
    }

    private double rate(String contender, boolean hot, int inFlight) {
        List<Loop.Result> list = results.getOrDefault(new Case(contender, hot, inFlight), List.of());
        return list.isEmpty()
                ? Double.NaN
                : median(list.stream().map(Loop.Result::perSecond).toList());
    }

    private static double median(List<Double> values) {
        List<Double> sorted = new ArrayList<>(values);
        Collections.sort(sorted);
        return sorted.get(sorted.size() / 2);
    }

    static String[] words(Program<?> program, String text) {
        List<String> words = new ArrayList<>(Arrays.asList(text, "1", "KEY", "", program.operation()));
        program.args(0).forEach(number -> words.add(String.valueOf(number)));
        return words.toArray(new String[0]);
    }
}
