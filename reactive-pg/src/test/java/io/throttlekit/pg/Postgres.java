package io.throttlekit.pg;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.conformance.PostgresServer;
import io.throttlekit.conformance.PostgresServers;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgConnectOptions;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;

/** The servers of the tests, and what the tests have in common. */
final class Postgres {
    /** One that any test may use which does it no harm. */
    static final PostgresServer SERVER = PostgresServers.any();
    /** The event loops of stores, so that opening many of them stays cheap. */
    static final Vertx VERTX = Vertx.vertx();

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private Postgres() {}

    /** One that may be frozen and stopped, and which counts statements. It is left running. */
    static final class Own {
        static final PostgresServer SERVER =
                PostgresServers.own(Map.of("shared_preload_libraries", "pg_stat_statements"));

        private Own() {}
    }

    /** A store with much time, which leaves expired rows alone. */
    static PgStore.Builder store(PostgresServer server, String database) {
        return PgStore.builder(VERTX, PgConnectOptions.fromUri(server.uri(database)))
                .connections(2)
                .deadline(Duration.ofSeconds(10))
                .sweepInterval(Duration.ZERO);
    }

    static PgStore.Builder store(String database) {
        return store(SERVER, database);
    }

    /** The one value of a Mono. For the test's own thread. */
    static <T> T get(Mono<T> mono) {
        return mono.blockOptional(PATIENCE).orElseThrow(() -> new AssertionError("a Mono without a value"));
    }

    static void done(Mono<Void> mono) {
        mono.block(PATIENCE);
    }

    /** The error of a Mono. */
    static Throwable error(Mono<?> mono) {
        AtomicReference<@Nullable Throwable> seen = new AtomicReference<>();
        Object value = mono.map(v -> (Object) v)
                .onErrorResume(e -> {
                    seen.set(Exceptions.unwrap(e));
                    return Mono.empty();
                })
                .block(PATIENCE);
        Throwable error = seen.get();
        if (error == null) {
            throw new AssertionError("a value instead of an error: " + value);
        }
        return error;
    }

    static void await(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as(what).isLessThan(end);
            Mono.delay(Duration.ofMillis(20)).block();
        }
    }

    /** Connections to a database that are not the test's own. */
    static long connections(PostgresServer server, String database) {
        return server.number(
                "postgres",
                "SELECT count(*) FROM pg_stat_activity WHERE datname = '" + database
                        + "' AND application_name <> 'throttlekit-test'");
    }
}
