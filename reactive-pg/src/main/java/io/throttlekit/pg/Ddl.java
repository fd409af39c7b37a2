package io.throttlekit.pg;

import io.throttlekit.Dialect;
import io.throttlekit.Program;
import io.throttlekit.StateMismatchException;
import io.throttlekit.Strategy;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.Quota;
import io.throttlekit.strategy.SlidingWindow;
import io.throttlekit.strategy.SlidingWindowLog;
import io.throttlekit.strategy.TokenBucket;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;

/** The statements that make the table and, per program, its function. */
final class Ddl {
    /*
     * The table. `state` is what programs keep, `code` what a codec wrote on the function path: exactly one of
     * them is there, so each path sees the other's rows. `expires` is the instant from which the state is absent to
     * every read; `sweep` the one from which the row may be deleted, which differs where an injected clock tells
     * another time than the server's. No index but the key's: one on expiry would end HOT updates. The fill factor
     * leaves every page room for them.
     *
     * The function, one per program. A call reads without a lock first, and what changes nothing is answered from
     * that: a denial locks nothing and writes nothing. A change is written on the condition that the row is still as
     * it was read, which takes the row's lock and, after a wait for it, looks at the row as it is then. If another
     * was faster, the row is locked first, read again and decided again with a fresh clock. A cold key cannot be
     * locked; there the unique key decides who is first. Every statement of a volatile function sees what was
     * committed before it, as long as the transaction is READ COMMITTED, which the store sees to.
     *
     * A function's name ends in a hash of its text. So nodes with two versions of this library run side by side,
     * and a function that exists never has to be replaced.
     */
    private static final String TABLE = """
            CREATE %sTABLE IF NOT EXISTS %s (
                key bytea PRIMARY KEY,
                kind text NOT NULL,
                state bigint[],
                code bytea,
                expires bigint NOT NULL,
                sweep bigint NOT NULL
            ) WITH (fillfactor = 70)""";

    private static final String FUNCTION = """
            CREATE OR REPLACE FUNCTION {function}(k bytea, kind_in text, clock_us bigint, op text, a bigint[])
            RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $throttlekit$
            #variable_conflict use_variable
            DECLARE
                old_kind text;
                old_state bigint[];
                old_expires_us bigint;
                present boolean;
                locked boolean := false;
                server_us bigint;
                now_us bigint;
                state bigint[];
                changed boolean;
                next bigint[];
                expires_us bigint;
                sweep_us bigint;
                reply bigint[];
            BEGIN
                LOOP
                    IF locked THEN
                        SELECT t.kind, t.state, t.expires INTO old_kind, old_state, old_expires_us
                            FROM {table} t WHERE t.key = k FOR UPDATE;
                    ELSE
                        SELECT t.kind, t.state, t.expires INTO old_kind, old_state, old_expires_us
                            FROM {table} t WHERE t.key = k;
                    END IF;
                    present := FOUND;
                    server_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
                    now_us := coalesce(clock_us, server_us);
                    IF NOT present OR old_expires_us <= now_us THEN
                        state := NULL;
                    ELSIF old_state IS NULL OR old_kind <> kind_in THEN
                        RAISE EXCEPTION 'the key holds % of %, not % of a program', old_kind,
                            CASE WHEN old_state IS NULL THEN 'the function path' ELSE 'a program' END, kind_in
                            USING ERRCODE = '{mismatch}';
                    ELSE
                        state := old_state;
                    END IF;
                    changed := false;
                    next := NULL;
                    {step}
                    IF NOT changed THEN
                        RETURN reply;
                    END IF;
                    IF next IS NOT NULL THEN
                        sweep_us := expires_us;
                        IF clock_us IS NOT NULL THEN
                            sweep_us := greatest(sweep_us, server_us + {hour});
                        END IF;
                    END IF;
                    IF present AND next IS NULL THEN
                        DELETE FROM {table} t WHERE t.key = k AND (locked OR (t.state IS NOT DISTINCT FROM old_state
                            AND t.expires = old_expires_us AND t.kind = old_kind));
                    ELSIF present THEN
                        UPDATE {table} t SET kind = kind_in, state = next, code = NULL, expires = expires_us,
                            sweep = sweep_us WHERE t.key = k AND (locked OR (t.state IS NOT DISTINCT FROM old_state
                            AND t.expires = old_expires_us AND t.kind = old_kind));
                    ELSIF next IS NULL THEN
                        RETURN reply;
                    ELSE
                        INSERT INTO {table} (key, kind, state, expires, sweep)
                            VALUES (k, kind_in, next, expires_us, sweep_us) ON CONFLICT (key) DO NOTHING;
                    END IF;
                    IF FOUND THEN
                        RETURN reply;
                    END IF;
                    locked := true;
                END LOOP;
            END
            $throttlekit$""";

    /** The SQLSTATE of a {@link StateMismatchException}; the class is none of PostgreSQL's. */
    static final String MISMATCH = "TK409";
    /** With an injected clock a row is kept for so long, whatever that clock says. */
    static final long HOUR_MICROS = Duration.ofHours(1).toNanos() / 1000;

    private static final int MAX_IDENTIFIER = 63;

    private Ddl() {}

    static String table(TableName table, Durability durability) {
        return TABLE.formatted(durability == Durability.UNLOGGED ? "UNLOGGED " : "", table.quoted());
    }

    /** The name of a program's function, without its schema. */
    static String functionName(TableName table, String program, String step) {
        String name = table.name() + "_" + program + "_" + hash(FUNCTION + step);
        if (name.length() > MAX_IDENTIFIER) {
            throw new IllegalArgumentException(
                    "a program's name must fit a function's name of at most 63 characters, was " + name);
        }
        return name;
    }

    static String function(TableName table, String program, String step) {
        return FUNCTION.replace("{function}", table.quoted(functionName(table, program, step)))
                .replace("{table}", table.quoted())
                .replace("{mismatch}", MISMATCH)
                .replace("{hour}", Long.toString(HOUR_MICROS))
                .replace("{step}", step.strip().replace("\n", "\n        "));
    }

    /** Everything that the strategies of the core need. Reads the programs' texts. */
    static String everything(TableName table, Durability durability) {
        StringBuilder all = new StringBuilder(table(table, durability)).append(";\n");
        for (Program<?> program : programs()) {
            String step = Objects.requireNonNull(program.text(Dialect.POSTGRES), program::name);
            all.append('\n').append(function(table, program.name(), step)).append(";\n");
        }
        return all.toString();
    }

    private static List<Program<?>> programs() {
        Duration second = Duration.ofSeconds(1);
        return List.of(
                program(Gcra.of(1, second)),
                program(TokenBucket.of(1, 1, second)),
                program(FixedWindow.of(1, second)),
                program(Quota.daily(1)),
                program(SlidingWindow.of(1, second)),
                program(SlidingWindowLog.of(1, second)));
    }

    private static <S> Program<?> program(Strategy<S> strategy) {
        return Objects.requireNonNull(strategy.peek().program(), strategy::name);
    }

    private static String hash(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, 4);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
