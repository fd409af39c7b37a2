package io.throttlekit.redis.bench;

import io.throttlekit.Store;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Flux;

/**
 * Checks per second of a leased and of a strict limiter over the same Redis: one hot key, 128 in flight at most,
 * in turns.
 */
final class TwoTierRates {
    private static final int IN_FLIGHT = 128;
    private static final Gcra STRATEGY = Gcra.of(1_000_000_000, Duration.ofSeconds(1));

    private TwoTierRates() {}

    static void run(int rounds, Duration span) {
        Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
        try (RedisServer server = RedisServers.own()) {
            Store store = RedisStore.builder(vertx, new RedisOptions().setConnectionString(server.uri()))
                    .connections(1)
                    .deadline(Duration.ofSeconds(10))
                    .build();
            Map<String, Limiter> contenders = new LinkedHashMap<>();
            contenders.put(
                    "strict", TwoTier.strict(STRATEGY, store).prefix("strict").build());
            contenders.put(
                    "leased",
                    TwoTier.leased(STRATEGY, store, LeaseOptions.batch(100).deadline(Duration.ofSeconds(10)))
                            .prefix("leased")
                            .build());
            Map<String, List<Double>> rates = new LinkedHashMap<>();
            for (int round = 0; round <= rounds; round++) {
                for (Map.Entry<String, Limiter> contender : contenders.entrySet()) {
                    double rate = rate(contender.getValue(), span);
                    // The first round warms up.
                    if (round > 0) {
                        rates.computeIfAbsent(contender.getKey(), name -> new ArrayList<>())
                                .add(rate);
                    }
                }
            }
            rates.forEach((name, values) -> System.out.printf("%-8s %,12.0f checks/s%n", name, median(values)));
            System.out.printf(
                    "leased / strict = %.1f (bar 20)%n",
                    median(rates.getOrDefault("leased", List.of(Double.NaN)))
                            / median(rates.getOrDefault("strict", List.of(Double.NaN))));
            store.close().block();
        } finally {
            vertx.close();
        }
    }

    private static double rate(Limiter limiter, Duration span) {
        long start = System.nanoTime();
        long end = start + span.toNanos();
        Long checks = Flux.<Integer>generate(sink -> {
                    if (System.nanoTime() - end < 0) {
                        sink.next(1);
                    } else {
                        sink.complete();
                    }
                })
                .flatMap(cost -> limiter.check("key", cost), IN_FLIGHT)
                .count()
                .block();
        return (checks == null ? 0 : checks) * 1e9 / (System.nanoTime() - start);
    }

    private static double median(List<Double> values) {
        List<Double> sorted = new ArrayList<>(values);
        Collections.sort(sorted);
        return sorted.get(sorted.size() / 2);
    }
}
