package io.throttlekit.redis.bench;

import io.throttlekit.Store;
import io.throttlekit.bench.report.Bar;
import io.throttlekit.bench.report.Report;
import io.throttlekit.bench.report.Table;
import io.throttlekit.conformance.RedisServer;
import io.throttlekit.conformance.RedisServers;
import io.throttlekit.limiter.LeaseOptions;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.limiter.TwoTier;
import io.throttlekit.redis.RedisStore;
import io.throttlekit.strategy.Gcra;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.redis.client.RedisOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Checks per second of a leased and of a strict limiter over the same Redis, and of Bucket4j where it merges what
 * waits: one hot key, one request after the other and 128 in flight, in turns.
 */
final class TwoTierRates {
    private static final int[] IN_FLIGHT = {1, 128};
    private static final String WHY_PIPELINED =
            "128 strict checks share a round trip, and so does a lease of 100: what is left is the work of each";
    private static final Gcra STRATEGY = Gcra.of(1_000_000_000, Duration.ofSeconds(1));

    private TwoTierRates() {}

    static void run(int rounds, Duration span) throws IOException {
        Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
        try (RedisServer server = RedisServers.own();
                Peers peers = new Peers(server.uri(), 128)) {
            Store store = RedisStore.builder(vertx, new RedisOptions().setConnectionString(server.uri()))
                    .connections(1)
                    .deadline(Duration.ofSeconds(10))
                    .build();
            Limiter strict = TwoTier.strict(STRATEGY, store).prefix("strict").build();
            Limiter leased = TwoTier.leased(
                            STRATEGY, store, LeaseOptions.batch(100).deadline(Duration.ofSeconds(10)))
                    .prefix("leased")
                    .build();
            IntFunction<CompletionStage<Boolean>> batching = peers.bucket4jBatching(new String[] {"key"});
            Map<String, Supplier<Mono<?>>> contenders = new LinkedHashMap<>();
            contenders.put("strict", () -> strict.check("key", 1));
            contenders.put("leased", () -> leased.check("key", 1));
            contenders.put("Bucket4j, batching", () -> Mono.fromCompletionStage(batching.apply(0)));
            Report report = Report.of("twotier");
            for (int inFlight : IN_FLIGHT) {
                report(report, inFlight, rates(contenders, inFlight, rounds, span));
            }
            report.write();
            store.close().block();
        } finally {
            vertx.close();
        }
    }

    private static Map<String, List<Double>> rates(
            Map<String, Supplier<Mono<?>>> contenders, int inFlight, int rounds, Duration span) {
        Map<String, List<Double>> rates = new LinkedHashMap<>();
        for (int round = 0; round <= rounds; round++) {
            for (Map.Entry<String, Supplier<Mono<?>>> contender : contenders.entrySet()) {
                double rate = rate(contender.getValue(), inFlight, span);
                // The first round warms up.
                if (round > 0) {
                    rates.computeIfAbsent(contender.getKey(), name -> new ArrayList<>())
                            .add(rate);
                }
            }
        }
        return rates;
    }

    private static void report(Report report, int inFlight, Map<String, List<Double>> rates) {
        Table table = report.table("one hot key over Redis, " + inFlight + " in flight", "checks/s");
        rates.forEach((name, values) -> {
            System.out.printf("%3d in flight, %-18s %,12.0f checks/s%n", inFlight, name, median(values));
            table.row(name, median(values));
        });
        double ratio = ratio(rates, "leased", "strict");
        double peer = ratio(rates, "leased", "Bucket4j, batching");
        Bar bar = inFlight == 1 ? Bar.atLeast(20) : Bar.NONE;
        System.out.printf("%d in flight, leased / Bucket4j, batching = %.1f%n", inFlight, peer);
        System.out.printf("%d in flight, leased / strict = %.1f (bar %s)%n", inFlight, ratio, bar);
        report.ratio(
                        "leased / strict, over Redis, batches of 100, " + inFlight + " in flight",
                        ratio,
                        bar,
                        inFlight == 1 ? "" : WHY_PIPELINED)
                .ratio("leased, batches of 100 / Bucket4j, batching, " + inFlight + " in flight", peer);
    }

    private static double rate(Supplier<Mono<?>> check, int inFlight, Duration span) {
        long start = System.nanoTime();
        long end = start + span.toNanos();
        Long checks = Flux.<Integer>generate(sink -> {
                    if (System.nanoTime() - end < 0) {
                        sink.next(1);
                    } else {
                        sink.complete();
                    }
                })
                .flatMap(cost -> check.get(), inFlight)
                .count()
                .block();
        return (checks == null ? 0 : checks) * 1e9 / (System.nanoTime() - start);
    }

    private static double ratio(Map<String, List<Double>> rates, String ours, String theirs) {
        return median(rates.getOrDefault(ours, List.of(Double.NaN)))
                / median(rates.getOrDefault(theirs, List.of(Double.NaN)));
    }

    private static double median(List<Double> values) {
        List<Double> sorted = new ArrayList<>(values);
        Collections.sort(sorted);
        return sorted.get(sorted.size() / 2);
    }
}
