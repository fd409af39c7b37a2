package io.throttlekit.pg;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.Strategy;
import io.throttlekit.conformance.PostgresServer;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/** What the server sees of a check. */
class StatementsTest {
    private static final PostgresServer SERVER = Postgres.Own.SERVER;

    private String database = "";
    private PgStore store = Postgres.store(SERVER, "none").build();

    @BeforeEach
    void open() {
        database = SERVER.createDatabase();
        SERVER.execute(database, "CREATE EXTENSION pg_stat_statements");
        store = Postgres.store(SERVER, database).connections(1).build();
    }

    @AfterEach
    void close() {
        Postgres.done(store.close());
    }

    private List<String> statements() {
        return SERVER.query(
                database,
                "SELECT s.calls || ' ' || left(s.query, 64) FROM pg_stat_statements s JOIN pg_database d ON d.oid ="
                        + " s.dbid WHERE d.datname = current_database() AND s.query NOT LIKE '%pg_stat_%' AND s.query NOT LIKE 'SET %'"
                        + " ORDER BY s.query");
    }

    @Test
    void oneStatementForAnAllowAndForADenial() {
        FixedWindow five = FixedWindow.of(5, Duration.ofDays(3650));
        Postgres.get(store.apply("key", five.peek()));
        SERVER.query(database, "SELECT pg_stat_statements_reset()");
        long transactions = transactions();

        List<Decision> decisions = Postgres.get(Flux.range(0, 20)
                .concatMap(i -> store.apply("key", five.check(1, 1)))
                .collectList());

        assertThat(decisions.stream().filter(Decision::allowed)).hasSize(5);
        assertThat(statements())
                .hasSize(1)
                .allSatisfy(statement ->
                        assertThat(statement).startsWith("20 SELECT ").contains("_fixed"));
        Postgres.await("twenty transactions", () -> transactions() - transactions >= 20);
    }

    /** By the function for keys that were denied last, once one was. */
    @Test
    void oneStatementForAUsualAllowAndForAUsualDenial() {
        Gcra five = Gcra.of(5, Duration.ofDays(5));
        Postgres.get(store.apply("other", five.check(1, 1)));
        SERVER.query(database, "SELECT pg_stat_statements_reset()");

        List<Decision> decisions = Postgres.get(Flux.range(0, 20)
                .concatMap(i -> store.apply("key", five.check(1, 1)))
                .collectList());

        assertThat(decisions.stream().filter(Decision::allowed)).hasSize(5);
        assertThat(statements())
                .satisfiesExactlyInAnyOrder(
                        allow -> assertThat(allow).startsWith("6 SELECT ").contains("_allow\"("),
                        deny -> assertThat(deny).startsWith("14 SELECT ").contains("_deny\"("));
    }

    @Test
    void aUsualDenialWritesAndLocksNothing() {
        denialWritesAndLocksNothing(Gcra.of(1, Duration.ofDays(3650)));
    }

    @Test
    void aDenialWritesAndLocksNothing() {
        denialWritesAndLocksNothing(FixedWindow.of(1, Duration.ofDays(3650)));
    }

    private void denialWritesAndLocksNothing(Strategy<?> one) {
        Postgres.get(store.apply("key", one.check(1, 1)));
        String row = "SELECT concat_ws(' ', ctid, xmin, xmax, s1, s2) FROM throttlekit";
        List<String> before = SERVER.query(database, row);
        SERVER.query(database, "SELECT pg_stat_statements_reset()");

        for (int i = 0; i < 50; i++) {
            assertThat(Postgres.get(store.apply("key", one.check(1, 1))).allowed())
                    .isFalse();
        }

        assertThat(SERVER.query(database, row)).isEqualTo(before);
        assertThat(SERVER.number(
                        database,
                        "SELECT coalesce(sum(s.wal_records), 0)::bigint FROM pg_stat_statements s JOIN pg_database d ON"
                                + " d.oid = s.dbid WHERE d.datname = current_database() AND s.query LIKE 'SELECT \"%'"))
                .as("records in the write-ahead log")
                .isZero();
    }

    @Test
    void updatesStayHot() {
        Gcra gcra = Gcra.of(1_000_000, Duration.ofDays(1));

        Postgres.get(Flux.range(0, 4_000)
                .flatMap(i -> store.apply("key" + i % 200, gcra.check(1, 1)), 64)
                .collectList());
        // A connection tells the server's statistics when it ends; else only after it was idle for ten seconds.
        Postgres.done(store.close());

        String counted = " FROM pg_stat_user_tables WHERE relname = 'throttlekit'";
        Postgres.await("statistics", () -> SERVER.number(database, "SELECT n_tup_upd" + counted) == 3_800);
        assertThat(SERVER.number(database, "SELECT n_tup_hot_upd * 100 / n_tup_upd" + counted))
                .as("percent of updates that are HOT")
                .isGreaterThan(90);
    }

    @Test
    void textsInStatementsStayWhatTheyAre() {
        for (String backslash : List.of("off", "on")) {
            SERVER.execute(database, "ALTER DATABASE " + database + " SET standard_conforming_strings = " + backslash);
            for (String text : List.of("gcra", "", "it's", "''", "a\\b", "\\'; --", "\u00e9\u6f22 $1")) {
                assertThat(SERVER.query(database, "SELECT " + Routes.Shape.literal(text)))
                        .containsExactly(text);
            }
        }
    }

    private long transactions() {
        return SERVER.number(database, "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()");
    }
}
