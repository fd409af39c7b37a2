package io.throttlekit.pg;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.Strategy;
import io.throttlekit.conformance.PostgresServer;
import io.throttlekit.strategy.FixedWindow;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Whatever happens to the server: every call is answered within its deadline, no answer is an allow that was not
 * written, and afterwards all is as before.
 */
class FailuresTest {
    private static final PostgresServer SERVER = Postgres.Own.SERVER;
    private static final Duration DEADLINE = Duration.ofMillis(500);
    /** What a call may take beyond its deadline on a machine that has other things to do. */
    private static final Duration GRACE = Duration.ofMillis(1_500);
    /** So large that nothing is ever denied: what is left tells what was written. */
    private static final Strategy<?> STRATEGY = FixedWindow.of(1_000_000, Duration.ofDays(3650));

    private String database = "";
    private PgStore store = PgStore.connect("postgresql://nobody@localhost/nowhere");
    private final Counting counting = new Counting();

    @BeforeEach
    void open() {
        Postgres.done(store.close());
        database = SERVER.createDatabase();
        store = Postgres.store(SERVER, database).deadline(DEADLINE).build();
        Postgres.await("the store is ready", () -> calls(8).stream().allMatch(Outcome::allowed));
    }

    @AfterEach
    void close() {
        Postgres.done(store.close());
        Postgres.await("nobody left", () -> Postgres.connections(SERVER, database) == 0);
    }

    /** What became of a call. */
    private record Outcome(boolean allowed, Reason reason, boolean mayHaveCharged, Duration took) {}

    /** Calls at once, on several keys and on both paths, and how they end. */
    private List<Outcome> calls(int count) {
        return Postgres.get(Flux.range(0, count).flatMap(this::call, count).collectList());
    }

    private Mono<Outcome> call(int i) {
        return Mono.defer(() -> {
            long start = System.nanoTime();
            Mono<Boolean> allowed = i % 4 == 3
                    ? store.apply("counted" + i % 8, counting).map(count -> true)
                    : store.apply("key" + i % 8, STRATEGY.check(1, 1)).map(Decision::allowed);
            return allowed.map(yes -> new Outcome(yes, Reason.SERVER, false, since(start)))
                    .onErrorResume(
                            StoreUnavailableException.class,
                            e -> Mono.just(new Outcome(false, e.reason(), e.mayHaveCharged(), since(start))));
        });
    }

    private static Duration since(long startNanos) {
        return Duration.ofNanos(System.nanoTime() - startNanos);
    }

    private static void answeredInTime(List<Outcome> outcomes) {
        assertThat(outcomes)
                .allSatisfy(
                        outcome -> assertThat(outcome.took).as("%s", outcome).isLessThan(DEADLINE.plus(GRACE)));
    }

    private static Set<Reason> reasons(List<Outcome> outcomes) {
        return outcomes.stream()
                .filter(outcome -> !outcome.allowed)
                .map(Outcome::reason)
                .collect(Collectors.toSet());
    }

    /** Makes calls while the server is down until one fails, and then until it is back and all succeed. */
    private void fails(Reason... expected) {
        Postgres.await("a call that fails", () -> {
            List<Outcome> outcomes = calls(16);
            answeredInTime(outcomes);
            assertThat(reasons(outcomes)).isSubsetOf(expected);
            return outcomes.stream().noneMatch(Outcome::allowed);
        });
    }

    private void recovers() {
        Postgres.await("calls that succeed", () -> {
            List<Outcome> outcomes = calls(16);
            answeredInTime(outcomes);
            return outcomes.stream().allMatch(Outcome::allowed);
        });
    }

    private long written() {
        return SERVER.number(database, "SELECT coalesce(sum(s2), 0) FROM throttlekit WHERE kind = 'fixedWindow'");
    }

    private void terminateAll() {
        SERVER.query(
                "postgres",
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + database
                        + "' AND application_name <> 'throttlekit-test'");
    }

    @Test
    void terminatedBackends() {
        long before = written();
        Flux<Outcome> traffic = Flux.range(0, 4_000).flatMap(this::call, 32);
        Mono<List<Outcome>> outcomes = traffic.collectList().cache();
        outcomes.subscribe();

        for (int i = 0; i < 3; i++) {
            terminateAll();
            Mono.delay(Duration.ofMillis(100)).block();
        }

        List<Outcome> all = Postgres.get(outcomes);
        answeredInTime(all);
        assertThat(reasons(all)).isSubsetOf(Reason.DISCONNECTED, Reason.TIMEOUT);
        recovers();
        List<Outcome> more = calls(64);
        assertThat(more).allMatch(Outcome::allowed);
        assertThat(written()).as("every allow was written").isGreaterThanOrEqualTo(before + allowsOfPrograms(all));
    }

    private static long allowsOfPrograms(List<Outcome> outcomes) {
        return outcomes.stream().filter(Outcome::allowed).count() * 3 / 4 - 16;
    }

    @Test
    void restart() {
        SERVER.stop();
        try {
            fails(Reason.DISCONNECTED, Reason.TIMEOUT);
            long start = System.nanoTime();
            List<Outcome> outcomes = calls(8);
            assertThat(reasons(outcomes)).isSubsetOf(Reason.DISCONNECTED, Reason.TIMEOUT);
            assertThat(outcomes).noneMatch(Outcome::mayHaveCharged);
            assertThat(since(start)).isLessThan(DEADLINE.plus(GRACE));
        } finally {
            SERVER.start();
        }
        recovers();
    }

    @Test
    void frozenServer() {
        SERVER.freeze();
        try {
            fails(Reason.TIMEOUT, Reason.DISCONNECTED);
            fails(Reason.TIMEOUT, Reason.DISCONNECTED);
        } finally {
            SERVER.thaw();
        }
        recovers();
    }

    @Test
    void frozenBackends() throws IOException, InterruptedException {
        List<String> frozen = SERVER.query(
                "postgres",
                "SELECT pid FROM pg_stat_activity WHERE datname = '" + database
                        + "' AND application_name <> 'throttlekit-test'");
        signal("-STOP", frozen);
        try {
            fails(Reason.TIMEOUT, Reason.DISCONNECTED);
            // Given up for dead, and replaced.
            recovers();
            assertThat(Postgres.connections(SERVER, database)).isGreaterThan(frozen.size());
        } finally {
            signal("-CONT", frozen);
        }
        Postgres.await("the old ones go", () -> Postgres.connections(SERVER, database) == frozen.size());
        recovers();
    }

    private static void signal(String signal, List<String> processes) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("kill", signal));
        command.addAll(processes);
        assertThat(new ProcessBuilder(command).start().waitFor()).isZero();
    }

    @Test
    void closesWhileTheServerIsFrozen() {
        SERVER.freeze();
        try {
            Postgres.done(store.close());
        } finally {
            SERVER.thaw();
        }
        Postgres.await("nobody left", () -> Postgres.connections(SERVER, database) == 0);
    }

    @Test
    void tableLockedByAnother() throws SQLException {
        try (Connection other = SERVER.connect(database);
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("LOCK TABLE throttlekit IN ACCESS EXCLUSIVE MODE");
            fails(Reason.TIMEOUT);
            fails(Reason.TIMEOUT);
            other.rollback();
        }
        recovers();
    }

    @Test
    void rowLockedByAnotherHoldsUpItsShardOnly() throws SQLException {
        long key5 = SERVER.number(database, "SELECT count(*) FROM throttlekit WHERE key = 'throttlekit:key5'::bytea");
        assertThat(key5).isEqualTo(1);
        try (Connection other = SERVER.connect(database);
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("SELECT * FROM throttlekit WHERE key = 'throttlekit:key5'::bytea FOR UPDATE");

            List<Outcome> outcomes = calls(64);

            answeredInTime(outcomes);
            assertThat(reasons(outcomes)).isEqualTo(Set.of(Reason.TIMEOUT));
            assertThat(outcomes).anyMatch(Outcome::allowed);
            Decision looked = Postgres.get(store.apply("key5", STRATEGY.peek()).retryWhen(Retry.indefinitely()));
            assertThat(looked.allowed()).isTrue();
            other.rollback();
        }
        recovers();
    }

    @Test
    void columnAddedWhileRunning() {
        Mono<List<Outcome>> outcomes =
                Flux.range(0, 2_000).flatMap(this::call, 16).collectList().cache();
        outcomes.subscribe();

        SERVER.execute(database, "ALTER TABLE throttlekit ADD COLUMN remark text");

        List<Outcome> all = Postgres.get(outcomes);
        answeredInTime(all);
        assertThat(reasons(all)).isSubsetOf(Reason.TIMEOUT);
        recovers();
    }

    @Test
    void errorOfTheServer() {
        SERVER.execute(
                database,
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$",
                "CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON throttlekit FOR EACH ROW EXECUTE FUNCTION refuse()");
        long before = written();

        List<Outcome> outcomes = calls(32);

        answeredInTime(outcomes);
        assertThat(outcomes).noneMatch(Outcome::allowed).noneMatch(Outcome::mayHaveCharged);
        assertThat(reasons(outcomes)).isEqualTo(Set.of(Reason.SERVER));
        SERVER.execute(database, "DROP TRIGGER refuse ON throttlekit");
        assertThat(written()).isEqualTo(before);
        recovers();
    }

    @ParameterizedTest(name = "SQLSTATE {0}")
    @ValueSource(strings = {"40001", "40P01"})
    void transactionsThatLoseAreRepeated(String state) {
        SERVER.execute(
                database,
                "CREATE SEQUENCE tries",
                "CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF nextval('tries') % 4 <> 0 THEN"
                        + " RAISE EXCEPTION 'try again' USING ERRCODE = '" + state + "'; END IF; RETURN NEW; END $$",
                "CREATE TRIGGER lose BEFORE INSERT ON throttlekit FOR EACH ROW EXECUTE FUNCTION lose()");

        PgStore patient = Postgres.store(SERVER, database).build();
        for (long i = 1; i <= 5; i++) {
            assertThat(Postgres.get(patient.apply("losing", counting))).isEqualTo(i);
        }
        Postgres.done(patient.close());
        SERVER.execute(database, "DROP TRIGGER lose ON throttlekit");
    }

    @Test
    void readOnlyServer() {
        SERVER.execute(database, "ALTER DATABASE " + database + " SET default_transaction_read_only = on");
        terminateAll();
        fails(Reason.SERVER, Reason.DISCONNECTED, Reason.TIMEOUT);
        StoreUnavailableException error = (StoreUnavailableException) Postgres.error(
                store.apply("key1", STRATEGY.check(1, 1)).repeat().then());
        assertThat(error.reason()).isEqualTo(Reason.SERVER);
        assertThat(error).hasMessageContaining("25006");
        assertThat(error.mayHaveCharged()).isFalse();
        assertThat(Postgres.get(store.apply("key1", STRATEGY.peek())).allowed()).isTrue();

        // The sessions stay as they began: it takes new ones, and nobody ends the old ones but the store.
        SERVER.execute(
                database, "SET default_transaction_read_only = off", "ALTER DATABASE " + database + " RESET ALL");
        recovers();
    }

    @Test
    void droppedTableAndFunction() {
        SERVER.execute(database, dropFunctions());
        recovers();

        Mono.delay(Duration.ofMillis(1_100)).block();
        SERVER.execute(database, "DROP TABLE throttlekit");
        recovers();
    }

    private static String dropFunctions() {
        return "DO $$ DECLARE f text; BEGIN FOR f IN SELECT oid::regprocedure::text FROM pg_proc WHERE proname LIKE"
                + " 'throttlekit%' LOOP EXECUTE 'DROP FUNCTION ' || f; END LOOP; END $$";
    }
}
