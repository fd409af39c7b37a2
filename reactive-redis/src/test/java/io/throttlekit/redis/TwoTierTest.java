package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.Store;
import io.throttlekit.conformance.RedisServer;
import io.throttlekit.conformance.RedisServers;
import io.throttlekit.conformance.TwoTierConformance;
import io.throttlekit.limiter.LeaseOptions;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.limiter.TwoTier;
import io.throttlekit.strategy.FixedWindow;
import io.vertx.core.Vertx;
import io.vertx.redis.client.RedisOptions;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/** Leased limiters over Redis, on Redis' clock; calls are counted by Redis itself. */
class TwoTierTest extends TwoTierConformance {
    private static RedisServer server;
    private static Vertx vertx;
    private static RedisStore store;

    @BeforeAll
    static void open() {
        server = RedisServers.own();
        vertx = Vertx.vertx();
        store = RedisStore.builder(vertx, new RedisOptions().setConnectionString(server.uri()))
                .deadline(Duration.ofSeconds(20))
                .connections(1)
                .build();
    }

    @AfterAll
    static void close() {
        Await.done(store.close());
        server.close();
        vertx.close();
    }

    @Override
    protected Store store() {
        return store;
    }

    private static Limiter leased(int batch) {
        Limiter limiter = TwoTier.leased(
                        FixedWindow.of(1_000_000, Duration.ofDays(3_650)),
                        store,
                        LeaseOptions.batch(batch).deadline(Duration.ofSeconds(20)))
                .prefix("batch" + batch)
                .build();
        // From here on Redis knows the script.
        Await.value(limiter.check("warm"));
        return limiter;
    }

    @Test
    void aThousandFirstChecksAreTwoCommands() {
        Limiter limiter = leased(50);
        long before = Info.calls(server, "evalsha", "eval");
        server.command("CLIENT", "PAUSE", "500");

        Long allowed = Await.value(Flux.range(0, 1_000)
                .flatMap(i -> limiter.check("cold"), 1_000)
                .filter(Decision::allowed)
                .count());

        assertThat(allowed).isEqualTo(1_000);
        assertThat(Info.calls(server, "evalsha", "eval") - before).isEqualTo(2);
    }

    @Test
    void aHundredThousandChecksAreAThousandCommands() {
        Limiter limiter = leased(100);
        long before = Info.calls(server, "evalsha", "eval");

        Long allowed = Await.value(Flux.range(0, 100_000)
                .flatMap(i -> limiter.check("hot"), 64)
                .filter(Decision::allowed)
                .count());

        assertThat(allowed).isEqualTo(100_000);
        assertThat(Info.calls(server, "evalsha", "eval") - before).isBetween(1_000L, 1_010L);
    }
}
