package io.throttlekit.redis.bench;

import io.throttlekit.Dialect;
import io.throttlekit.Program;
import io.throttlekit.conformance.RedisServer;
import io.throttlekit.conformance.RedisServers;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.redis.RedisStore;
import io.throttlekit.strategy.Gcra;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.redis.client.RedisOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * GCRA checks per second through one store, against a bare pipelined loop of EVALSHA with the same script and
 * against {@code redis-benchmark} where that is installed; each on the same server, which it starts.
 *
 * <p>One event loop, one connection, a fixed number of commands in flight: every answer starts the next. The
 * contenders take turns in short rounds and the medians count, since a machine's speed drifts.
 * {@code -Dbench.args="ROUNDS SECONDS"} changes 7 rounds of 2 seconds.
 */
public final class BenchMain {
    private static final int[] IN_FLIGHT = {1, 16, 128};
    private static final int KEYS = 1_000;
    private static final Gcra STRATEGY = Gcra.of(1_000_000_000, Duration.ofSeconds(1));

    private BenchMain() {}

    /** Runs everything. */
    public static void main(String[] args) throws Exception {
        String[] more = System.getProperty("bench.args", "").trim().split("\\s+");
        int rounds = more[0].isEmpty() ? 7 : Integer.parseInt(more[0]);
        Duration span = Duration.ofSeconds(more.length > 1 ? Integer.parseInt(more[1]) : 2);
        if (args[0].equals("twotier")) {
            TwoTierRates.run(rounds, span);
            System.exit(0);
        }
        String[] keys = new String[KEYS];
        for (int i = 0; i < KEYS; i++) {
            keys[i] = String.format("user-%06d", i);
        }
        Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
        try (RedisServer server = RedisServers.own()) {
            RedisOptions options = new RedisOptions().setConnectionString(server.uri());
            RedisStore store = RedisStore.builder(vertx, options)
                    .connections(1)
                    .deadline(Duration.ofSeconds(10))
                    .build();
            Limiter limiter = Limiter.builder(STRATEGY).store(store).build();
            Program<?> program = Objects.requireNonNull(STRATEGY.check(1, 1).program());
            String script = Objects.requireNonNull(program.text(Dialect.REDIS_LUA));
            Map<String, Supplier<Loop>> contenders = new LinkedHashMap<>();
            contenders.put("bare", () -> new BareLoop(vertx, options, program, script, keys));
            contenders.put("store", () -> new StoreLoop(limiter, keys));
            Map<String, List<Loop.Result>> results = new LinkedHashMap<>();
            for (int round = 0; round <= rounds; round++) {
                for (int inFlight : IN_FLIGHT) {
                    for (Map.Entry<String, Supplier<Loop>> contender : contenders.entrySet()) {
                        // The first round warms up, and longer.
                        Duration time = round == 0 ? span.multipliedBy(3) : span;
                        Loop.Result result = contender.getValue().get().run(inFlight, time);
                        if (round > 0) {
                            results.computeIfAbsent(contender.getKey() + " " + inFlight, k -> new ArrayList<>())
                                    .add(result);
                        }
                    }
                }
                System.err.println("round " + round + " of " + rounds + " done");
            }
            store.close().block();
            List<Double> tool = RedisBenchmark.rounds(server, program, script, rounds);
            print(results, tool);
        } finally {
            vertx.close();
        }
        System.exit(0);
    }

    private static void print(Map<String, List<Loop.Result>> results, List<Double> tool) {
        System.out.printf("%n%-12s %9s %12s %10s %10s%n", "GCRA", "in flight", "checks/s", "p50 us", "p99 us");
        Map<String, Double> rates = new LinkedHashMap<>();
        results.forEach((name, list) -> {
            String[] words = name.split(" ");
            double rate = median(list.stream().map(Loop.Result::perSecond).toList());
            rates.put(name, rate);
            System.out.printf(
                    "%-12s %9s %,12.0f %10.0f %10.0f%n",
                    words[0],
                    words[1],
                    rate,
                    median(list.stream().map(Loop.Result::p50Micros).toList()),
                    median(list.stream().map(Loop.Result::p99Micros).toList()));
        });
        double redisBenchmark = tool.isEmpty() ? Double.NaN : median(tool);
        if (tool.isEmpty()) {
            System.out.println("redis-benchmark is not installed");
        } else {
            System.out.printf("%-12s %9d %,12.0f%n", "redis-bench", 128, redisBenchmark);
        }
        System.out.println();
        for (int inFlight : IN_FLIGHT) {
            double store = rates.getOrDefault("store " + inFlight, Double.NaN);
            double bare = rates.getOrDefault("bare " + inFlight, Double.NaN);
            System.out.printf(
                    "store / bare at %d in flight = %.2f%s%n",
                    inFlight, store / bare, inFlight == 128 ? " (bar 0.8)" : "");
        }
        if (!tool.isEmpty()) {
            double bare = rates.getOrDefault("bare 128", Double.NaN);
            System.out.printf("bare / redis-benchmark at 128 in flight = %.2f%n", bare / redisBenchmark);
        }
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
