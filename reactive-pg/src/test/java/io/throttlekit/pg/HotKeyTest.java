package io.throttlekit.pg;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.StateMismatchException;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.Strategy;
import io.throttlekit.conformance.PostgresServer;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Calls on one key that wait for each other go together, and each of them is still decided by itself. */
class HotKeyTest {
    private static final PostgresServer SERVER = Postgres.Own.SERVER;
    private static final Duration WINDOW = Duration.ofDays(3650);
    private static final Strategy<?> LARGE = FixedWindow.of(1_000_000, WINDOW);
    private static final String ROW = " WHERE key = 'throttlekit:key'::bytea";

    private String database = "";
    private PgStore store = Postgres.store(SERVER, "none").build();

    @BeforeEach
    void open() {
        database = SERVER.createDatabase();
        SERVER.execute(database, "CREATE EXTENSION pg_stat_statements");
        store = Postgres.store(SERVER, database).connections(1).build();
        Postgres.get(check(LARGE));
    }

    @AfterEach
    void close() {
        Postgres.done(store.close());
    }

    private Mono<Decision> check(Strategy<?> strategy) {
        return store.apply("key", strategy.check(1, 1));
    }

    private long taken() {
        return SERVER.number(database, "SELECT s2 FROM throttlekit" + ROW);
    }

    private long transactions() {
        return SERVER.number(database, "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()");
    }

    private void awaitWaiting() {
        Postgres.await(
                "a check waits for the row",
                () -> SERVER.number(
                                database,
                                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                                        + " AND wait_event_type = 'Lock'")
                        == 1);
    }

    @Test
    void aStatementEachInFewTransactions() {
        SERVER.query(database, "SELECT pg_stat_statements_reset()");
        long before = transactions();

        List<Decision> decisions =
                Postgres.get(Flux.range(0, 640).flatMap(i -> check(LARGE), 640).collectList());

        assertThat(decisions).hasSize(640).allMatch(Decision::allowed);
        assertThat(decisions.stream().map(Decision::remaining).distinct()).hasSize(640);
        assertThat(taken()).isEqualTo(641);
        assertThat(SERVER.number(
                        database,
                        "SELECT sum(s.calls)::bigint FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid"
                                + " WHERE d.datname = current_database() AND s.query LIKE 'SELECT \"%'"))
                .as("statements")
                .isEqualTo(640);
        Postgres.await("the server's count", () -> transactions() - before >= 640 / Turns.TOGETHER);
        assertThat(transactions() - before).as("transactions").isLessThan(200);
    }

    @Test
    void withoutSharingATransactionEach() {
        PgStore alone = Postgres.store(SERVER, database)
                .connections(1)
                .shareCommits(false)
                .build();
        long before = transactions();

        List<Decision> decisions = Postgres.get(Flux.range(0, 640)
                .flatMap(i -> alone.apply("key", LARGE.check(1, 1)), 640)
                .collectList());

        assertThat(decisions).hasSize(640).allMatch(Decision::allowed);
        assertThat(taken()).isEqualTo(641);
        Postgres.await("the server's count", () -> transactions() - before >= 640);
        Postgres.done(alone.close());
    }

    @Test
    void exactlyTheLimit() {
        Strategy<?> fifty = FixedWindow.of(50, WINDOW);
        PgStore other = Postgres.store(SERVER, database).connections(1).build();
        try {
            List<Decision> decisions = Postgres.get(Flux.range(0, 400)
                    .flatMap(i -> (i % 2 == 0 ? store : other).apply("cold", fifty.check(1, 1)), 400)
                    .collectList());

            assertThat(decisions.stream().filter(Decision::allowed)).hasSize(50);
        } finally {
            Postgres.done(other.close());
        }
    }

    @Test
    void anErrorOfOneIsNoErrorOfTheOthers() {
        // Every seventh change fails, also when it is tried again.
        SERVER.execute(
                database,
                "CREATE SEQUENCE changes; CREATE FUNCTION bad_luck() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                        + " IF nextval('changes') % 7 = 0 THEN RAISE EXCEPTION 'bad luck'; END IF; RETURN NEW; END $$;"
                        + " CREATE TRIGGER bad_luck BEFORE UPDATE ON throttlekit FOR EACH ROW EXECUTE FUNCTION"
                        + " bad_luck()");
        AtomicInteger failed = new AtomicInteger();

        List<Decision> decisions = Postgres.get(Flux.range(0, 200)
                .flatMap(
                        i -> check(LARGE).onErrorResume(StoreUnavailableException.class, e -> {
                            assertThat(e.mayHaveCharged()).isFalse();
                            failed.incrementAndGet();
                            return Mono.empty();
                        }),
                        200)
                .collectList());

        assertThat(decisions).hasSize(200 - failed.get()).allMatch(Decision::allowed);
        assertThat(failed.get()).as("failed").isBetween(10, 40);
        assertThat(taken()).as("what was allowed was written").isEqualTo(1 + decisions.size());
    }

    @Test
    void anotherStrategyOnTheKeyFailsAlone() {
        Strategy<?> gcra = Gcra.of(100, WINDOW);
        AtomicInteger mismatches = new AtomicInteger();

        List<Decision> decisions = Postgres.get(Flux.range(0, 120)
                .flatMap(
                        i -> check(i % 3 == 0 ? gcra : LARGE).onErrorResume(StateMismatchException.class, e -> {
                            mismatches.incrementAndGet();
                            return Mono.empty();
                        }),
                        120)
                .collectList());

        assertThat(mismatches.get()).isEqualTo(40);
        assertThat(decisions).hasSize(80);
        assertThat(taken()).isEqualTo(81);
    }

    @Test
    void whoLeavesWhileWaitingIsNotCharged() throws SQLException {
        try (Connection other = SERVER.connect(database);
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("UPDATE throttlekit SET s2 = s2" + ROW);
            List<Disposable> checks = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                checks.add(check(LARGE).subscribe());
            }
            awaitWaiting();
            checks.forEach(Disposable::dispose);
            other.rollback();
        }

        Decision after = Postgres.get(check(LARGE));

        assertThat(1_000_000 - after.remaining()).as("those that were sent").isBetween(2L, 5L);
        assertThat(taken()).isEqualTo(1_000_000 - after.remaining());
    }

    @Test
    void whoWaitsForAConnectionThatBreaksGoesOverTheNext() throws SQLException {
        AtomicInteger failed = new AtomicInteger();
        List<Decision> allowed = new ArrayList<>();
        Mono<Void> checks;
        try (Connection other = SERVER.connect(database);
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("UPDATE throttlekit SET s2 = s2" + ROW);
            checks = Flux.range(0, 100)
                    .flatMap(
                            i -> check(LARGE).onErrorResume(StoreUnavailableException.class, e -> {
                                assertThat(e.mayHaveCharged()).as("it was sent").isTrue();
                                failed.incrementAndGet();
                                return Mono.empty();
                            }),
                            100)
                    .doOnNext(allowed::add)
                    .then()
                    .cache();
            checks.subscribe();
            awaitWaiting();
            SERVER.query(
                    database,
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                            + " AND wait_event_type = 'Lock'");
            other.rollback();
        }

        Postgres.done(checks);

        assertThat(failed.get()).as("failed with the connection").isBetween(1, 4);
        assertThat(allowed).hasSize(100 - failed.get());
        assertThat(taken()).isEqualTo(1 + allowed.size());
    }

    @Test
    void manyHotKeysAndManyOthersAllGetTheirTurn() {
        List<Decision> decisions = Postgres.get(Flux.range(0, 6_000)
                .flatMap(i -> store.apply(i % 2 == 0 ? "hot" + i % 200 : "cold" + i, LARGE.check(1, 1)), 3_000)
                .collectList());

        assertThat(decisions).hasSize(6_000).allMatch(Decision::allowed);
        assertThat(SERVER.number(database, "SELECT sum(s2)::bigint FROM throttlekit"))
                .isEqualTo(6_001);
    }
}
