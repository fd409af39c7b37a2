package io.throttlekit.pg;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Dialect;
import io.throttlekit.Program;
import io.throttlekit.conformance.PostgresServer;
import io.throttlekit.strategy.Gcra;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The functions for usual calls answer and leave what the program's own function does at the time they read. */
class UsualCallsTest {
    private static final PostgresServer SERVER = Postgres.SERVER;
    private static final TableName TABLE = TableName.parse("throttlekit");
    private static final String NOW = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
    private static final String QUICK = "quick";
    private static final String LONG = "long";

    /** Of whole microseconds each, so that some are used up at once and some are full again soon. */
    private static final List<Gcra> USUAL = List.of(
            Gcra.of(1_000_000, Duration.ofSeconds(1)).withBurst(3),
            Gcra.of(1_000, Duration.ofSeconds(1)).withBurst(4),
            Gcra.of(100, Duration.ofSeconds(1)).withBurst(20),
            Gcra.of(10, Duration.ofHours(1)));

    /** Whose states are in ticks, which the usual calls then meet. */
    private static final List<Gcra> UNUSUAL = List.of(
            Gcra.of(7, Duration.ofSeconds(1)).withBurst(5),
            Gcra.of(999_999_937, Duration.ofSeconds(7)).withBurst(1_000));

    private final Random random = new Random(11);

    @Test
    void whichCallsAreUsual() {
        Gcra whole = USUAL.get(2);

        assertThat(usual(whole.check(3, 3).program())).containsExactly(170_000L, 3L, 30_000L);
        assertThat(usual(whole.check(20, 20).program())).containsExactly(0L, 20L, 200_000L);
        assertThat(usual(whole.check(21, 21).program())).as("never").isEmpty();
        assertThat(usual(whole.check(1, 2).program())).as("a range").isEmpty();
        assertThat(usual(whole.peek().program())).as("a look").isEmpty();
        assertThat(usual(whole.refund(1, null).program())).as("a refund").isEmpty();
        assertThat(usual(UNUSUAL.get(0).check(1, 1).program())).as("ticks").isEmpty();
    }

    private static List<Long> usual(@Nullable Program<?> program) {
        return Objects.requireNonNull(program).usual();
    }

    @Test
    void areTheSame() throws SQLException {
        String database = SERVER.createDatabase();
        SERVER.execute(database, Postgres.store(database).ddl());
        int[] answers = new int[3];
        try (Connection connection = SERVER.connect(database)) {
            for (int i = 0; i < 2_500; i++) {
                if (random.nextInt(10) == 0) {
                    Gcra other = random.nextBoolean() ? pick(UNUSUAL) : pick(USUAL);
                    long cost = 1L + random.nextInt(3);
                    long now = number(connection, "SELECT " + NOW);
                    Program<?> program = Objects.requireNonNull(
                            random.nextInt(3) == 0
                                    ? other.refund(cost, null).program()
                                    : other.check(cost, cost).program());
                    assertThat(full(connection, QUICK, program, now)).isEqualTo(full(connection, LONG, program, now));
                } else {
                    Gcra gcra = pick(USUAL);
                    long cost = 1L + random.nextInt(3);
                    Program<?> program =
                            Objects.requireNonNull(gcra.check(cost, cost).program());
                    boolean allow = random.nextBoolean();
                    boolean hadRow = number(connection, "SELECT count(*) FROM throttlekit") > 0;
                    List<Long> quick = quick(connection, program, allow);
                    assertThat(quick)
                            .as("call %s, cost %s of %s", i, cost, gcra)
                            .isEqualTo(full(connection, LONG, program, quick.get(1)));
                    answers[!hadRow ? 2 : quick.get(0) > 0 ? 1 : 0]++;
                }
                assertThat(row(connection, QUICK)).as("row after call %s", i).isEqualTo(row(connection, LONG));
                if (random.nextInt(40) == 0) {
                    SERVER.execute(database, "DELETE FROM throttlekit");
                }
            }
        }
        assertThat(answers[0]).as("denials").isGreaterThan(200);
        assertThat(answers[1]).as("allows").isGreaterThan(200);
        assertThat(answers[2]).as("cold").isGreaterThan(20);
    }

    private Gcra pick(List<Gcra> some) {
        return some.get(random.nextInt(some.size()));
    }

    private static String function(Program<?> program, String ending) {
        String text = Objects.requireNonNull(program.text(Dialect.POSTGRES));
        return TABLE.quoted(Ddl.functionName(TABLE, program.name(), text) + ending);
    }

    private static List<Long> quick(Connection connection, Program<?> program, boolean allow) throws SQLException {
        String numbers = String.join(", ", Collections.nCopies(program.usual().size(), "?"));
        String function = function(program, allow ? Ddl.ALLOW : Ddl.DENY);
        try (PreparedStatement call = connection.prepareStatement("SELECT " + function + "(?, " + numbers + ")")) {
            call.setBytes(1, QUICK.getBytes(UTF_8));
            for (int i = 0; i < program.usual().size(); i++) {
                call.setLong(2 + i, program.usual().get(i));
            }
            return longs(call);
        }
    }

    private static List<Long> full(Connection connection, String key, Program<?> program, long now)
            throws SQLException {
        List<Long> arguments = program.args(now);
        String scalars = "?, ".repeat(Ddl.SCALARS);
        try (PreparedStatement call = connection.prepareStatement(
                "SELECT " + function(program, "") + "(?, 'gcra', ?, ?, " + scalars + "NULL)")) {
            call.setBytes(1, key.getBytes(UTF_8));
            call.setLong(2, now);
            call.setString(3, program.operation());
            for (int i = 0; i < Ddl.SCALARS; i++) {
                call.setObject(4 + i, i < arguments.size() ? arguments.get(i) : null, Types.BIGINT);
            }
            return longs(call);
        }
    }

    private static List<Long> longs(PreparedStatement call) throws SQLException {
        try (ResultSet rows = call.executeQuery()) {
            rows.next();
            return List.of((Long[]) rows.getArray(1).getArray());
        }
    }

    private static long number(Connection connection, String sql) throws SQLException {
        try (PreparedStatement query = connection.prepareStatement(sql);
                ResultSet rows = query.executeQuery()) {
            rows.next();
            return rows.getLong(1);
        }
    }

    /** What counts of a row; s1 is told by the other numbers. */
    private static List<String> row(Connection connection, String key) throws SQLException {
        List<String> found = new ArrayList<>();
        try (PreparedStatement query = connection.prepareStatement(
                "SELECT concat_ws(' ', kind, s2, s3, expires) FROM throttlekit WHERE key = ?")) {
            query.setBytes(1, key.getBytes(UTF_8));
            try (ResultSet rows = query.executeQuery()) {
                while (rows.next()) {
                    found.add(rows.getString(1));
                }
            }
        }
        return found;
    }
}
