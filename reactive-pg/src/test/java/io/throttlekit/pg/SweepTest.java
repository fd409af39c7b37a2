package io.throttlekit.pg;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualClock;
import io.throttlekit.conformance.PostgresServer;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Expired rows go, by and by; nothing else does. */
class SweepTest {
    private static final PostgresServer SERVER = Postgres.SERVER;
    private static final Duration OFTEN = Duration.ofMillis(50);

    private static long rows(String database) {
        return SERVER.number(database, "SELECT count(*) FROM throttlekit");
    }

    private static void use(PgStore store, String name, int keys, Duration period) {
        Gcra gcra = Gcra.of(1, period);
        Postgres.get(Flux.range(0, keys)
                .flatMap(i -> store.apply(name + i, gcra.check(1, 1)), 64)
                .collectList());
    }

    @Test
    void deletesWhatHasExpiredAndNothingElse() throws SQLException {
        String database = SERVER.createDatabase();
        PgStore store =
                Postgres.store(database).sweepInterval(OFTEN).sweepBatch(7).build();
        use(store, "long", 20, Duration.ofHours(1));

        try (Connection other = SERVER.connect(database);
                Statement statement = other.createStatement()) {
            use(store, "short", 100, Duration.ofSeconds(2));
            other.setAutoCommit(false);
            statement.execute("SELECT * FROM throttlekit WHERE key = 'throttlekit:short7'::bytea FOR UPDATE");

            // The row that is in use is left, and holds up nobody.
            Postgres.await("only the locked row is left", () -> rows(database) == 21);
            other.rollback();
        }

        Postgres.await("that one too", () -> rows(database) == 20);
        assertThat(Postgres.get(store.apply(
                                "long3", Gcra.of(1, Duration.ofHours(1)).peek()))
                        .allowed())
                .isFalse();
        Postgres.done(store.close());
    }

    @Test
    void oneNodeSweepsAtATime() {
        String database = SERVER.createDatabase();
        List<PgStore> nodes = List.of(
                Postgres.store(database).connections(1).sweepInterval(OFTEN).build(),
                Postgres.store(database).connections(1).sweepInterval(OFTEN).build(),
                Postgres.store(database).connections(1).sweepInterval(OFTEN).build());
        nodes.forEach(node -> use(node, "key", 3, Duration.ofMillis(1)));
        String sweepers = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND database ="
                + " (SELECT oid FROM pg_database WHERE datname = current_database())";

        Postgres.await("one sweeps", () -> SERVER.number(database, sweepers) == 1);
        Postgres.await("rows are gone", () -> rows(database) == 0);
        assertThat(SERVER.number(database, sweepers)).isEqualTo(1);

        // Whoever it is: when the others are left alone, one of them takes over.
        Postgres.done(nodes.get(0).close());
        Postgres.done(nodes.get(1).close());
        Postgres.await("the last one sweeps", () -> SERVER.number(database, sweepers) == 1);
        Postgres.done(nodes.get(2).close());
        Postgres.await("nobody left", () -> Postgres.connections(SERVER, database) == 0);
    }

    @Test
    void keepsWhatAnInjectedClockWroteForAnHour() {
        String database = SERVER.createDatabase();
        PgStore past = Postgres.store(database)
                .clock(ManualClock.at(1_000_000_000_000_000L))
                .build();
        PgStore pastFunctions = Postgres.store(database)
                .clock(ManualClock.at(1_000_000_000_000_000L))
                .prefix("f")
                .programs(false)
                .build();
        PgStore sweeping = Postgres.store(database).sweepInterval(OFTEN).build();
        FixedWindow window = FixedWindow.of(3, Duration.ofSeconds(1));
        Postgres.get(past.apply("key", window.check(1, 1)));
        Postgres.get(pastFunctions.apply("key", window.check(1, 1)));
        use(sweeping, "now", 30, Duration.ofMillis(1));

        Postgres.await("the others are gone", () -> rows(database) == 2);

        assertThat(
                        SERVER.number(
                                database,
                                "SELECT min(sweep - (extract(epoch FROM now()) * 1000000)::bigint) / 60000000 FROM throttlekit"))
                .as("minutes that are left")
                .isBetween(58L, 60L);
        assertThat(Postgres.get(past.apply("key", window.peek())).remaining()).isEqualTo(2);
        assertThat(Postgres.get(pastFunctions.apply("key", window.peek())).remaining())
                .isEqualTo(2);
        Postgres.done(Mono.when(past.close(), pastFunctions.close(), sweeping.close()));
    }
}
