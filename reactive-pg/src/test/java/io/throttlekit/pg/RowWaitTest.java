package io.throttlekit.pg;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.Strategy;
import io.throttlekit.conformance.PostgresServer;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** What a check decides that read a row, wanted to take from it, and had to wait for someone who changed it. */
class RowWaitTest {
    private static final PostgresServer SERVER = Postgres.SERVER;
    private static final Duration WINDOW = Duration.ofDays(3650);
    private static final Strategy<?> TWO = FixedWindow.of(2, WINDOW);
    private static final String ROW = " WHERE key = 'throttlekit:key'::bytea";

    private final String database = SERVER.createDatabase();
    private final PgStore store = Postgres.store(database).build();

    @BeforeEach
    void install() {
        Postgres.get(store.apply("another", TWO.check(1, 1)));
    }

    @AfterEach
    void close() {
        Postgres.done(store.close());
    }

    /** Has another change the row, a check meet that, and only then the other's transaction end. */
    private Decision meets(String change, boolean commit) throws SQLException {
        return meets(TWO, change, commit);
    }

    private Decision meets(Strategy<?> strategy, String change, boolean commit) throws SQLException {
        try (Connection other = SERVER.connect(database);
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute(change);
            Mono<Decision> check = store.apply("key", strategy.check(1, 1)).cache();
            check.subscribe();
            Postgres.await(
                    "the check waits",
                    () -> SERVER.number(
                                    database,
                                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                                            + " AND wait_event_type = 'Lock'")
                            == 1);
            long before = SERVER.number(database, "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint");
            if (commit) {
                other.commit();
            } else {
                other.rollback();
            }
            Decision decision = Postgres.get(check);
            if (commit) {
                assertThat(decision.decidedAtMs())
                        .as("decided by a fresh clock")
                        .isGreaterThanOrEqualTo(before);
            }
            return decision;
        }
    }

    private long count() {
        return SERVER.number(database, "SELECT s2 FROM throttlekit" + ROW);
    }

    @Test
    void deniesWhenTheOtherTookTheRest() throws SQLException {
        Postgres.get(store.apply("key", TWO.check(1, 1)));

        Decision decision = meets("UPDATE throttlekit SET s2 = 2" + ROW, true);

        assertThat(decision.allowed()).isFalse();
        assertThat(count()).isEqualTo(2);
    }

    @Test
    void countsOnFromWhatTheOtherLeft() throws SQLException {
        Postgres.get(store.apply("key", TWO.check(1, 1)));

        Decision decision = meets("UPDATE throttlekit SET s2 = 0" + ROW, true);

        assertThat(decision.allowed()).isTrue();
        assertThat(decision.remaining()).isEqualTo(1);
        assertThat(count()).isEqualTo(1);
    }

    @Test
    void takesWhatItSawWhenTheOtherTakesItBack() throws SQLException {
        Postgres.get(store.apply("key", TWO.check(1, 1)));

        Decision decision = meets("UPDATE throttlekit SET s2 = 2" + ROW, false);

        assertThat(decision.allowed()).isTrue();
        assertThat(count()).isEqualTo(2);
    }

    @Test
    void startsAfreshWhenTheOtherDeletedIt() throws SQLException {
        Postgres.get(store.apply("key", TWO.check(1, 1)));

        Decision decision = meets("DELETE FROM throttlekit" + ROW, true);

        assertThat(decision.remaining()).isEqualTo(1);
        assertThat(count()).isEqualTo(1);
    }

    @ParameterizedTest(name = "committed: {0}")
    @ValueSource(booleans = {true, false})
    void aColdKeyIsWhoeverIsFirst(boolean commit) throws SQLException {
        Decision decision = meets(
                "INSERT INTO throttlekit (key, kind, s1, s2, expires) SELECT 'throttlekit:key', kind, s1, 2, expires"
                        + " FROM throttlekit",
                commit);

        assertThat(decision.allowed()).isEqualTo(!commit);
        assertThat(count()).isEqualTo(commit ? 2 : 1);
    }

    /** It is one UPDATE, which PostgreSQL decides again by itself. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void decidesAUsualAllowAgain(boolean room) throws SQLException {
        Gcra two = Gcra.of(2, Duration.ofDays(2));
        Postgres.get(store.apply("key", two.check(1, 1)));

        Decision decision = meets(
                two, "UPDATE throttlekit SET expires = expires " + (room ? "-" : "+") + " 43200000000" + ROW, true);

        assertThat(decision.allowed()).isEqualTo(room);
        assertThat(decision.remaining()).isZero();
        long left = SERVER.number(
                database, "SELECT expires / 1000 - (extract(epoch FROM now()) * 1000)::bigint FROM throttlekit" + ROW);
        assertThat(Duration.ofMillis(left).plusMinutes(1).toHours()).isEqualTo(36);
    }
}
