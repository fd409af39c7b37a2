package io.throttlekit.pg;

import io.throttlekit.Dialect;
import io.throttlekit.Program;
import io.throttlekit.Strategy;
import io.throttlekit.Transform;
import io.throttlekit.strategy.DepartureLine;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.Quota;
import io.throttlekit.strategy.SlidingWindow;
import io.throttlekit.strategy.SlidingWindowLog;
import io.throttlekit.strategy.TokenBucket;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The statements that make the table and, per program, its function. */
final class Ddl {
    /*
     * The table. Programs keep numbers in s1 to s3 and `more`; what a codec wrote on the function path is in `code`, and
     * the kind has another form then, so that each path refuses the other's rows. `expires` is the instant from which
     * the state is absent to every read. A row may be deleted from then on, but not before `sweep`, which is there when
     * an injected clock tells another time than the server's. No index but the key's: one on expiry would end HOT
     * updates. The fill factor leaves every page room for them.
     *
     * The function, one per program. A call reads without a lock first, and what changes nothing is answered from
     * that: a denial locks nothing and writes nothing. A change is written to the very version of the row that was
     * read, which takes the row's lock. If another was faster, that version is not the row any more: then the row is
     * locked first, read again and decided again with a fresh clock. A cold key cannot be locked; there the unique key
     * decides who is first. Every statement of a volatile function sees what was committed before it, as long as the
     * transaction is READ COMMITTED, which the store sees to. A version is known by the transaction
     * that wrote it, xmin, and the row is found by its key: PostgreSQL checks that condition again on a row that
     * changed while the statement waited for its lock. It does not for a row found by its place, ctid.
     *
     * PL/pgSQL prepares each expression anew in every transaction, so few expressions and few arguments count for more
     * here than little arithmetic. A program may therefore have two small functions besides for its usual calls, one
     * that is made for those it allows and one for those it denies, which ask the one above when it comes otherwise.
     * An allow is one UPDATE then, whose WHERE is the whole decision: a row that fails it is not locked, and one that
     * changed while the statement waited is decided again as it is then. The clock was read before, so the WHERE gives
     * up too when that is long ago. A usual call always has the server's clock. It leaves `sweep` as it is, which then
     * can only keep a row for longer.
     *
     * A function's name ends in a hash of its text. So nodes with two versions of this library run side by side,
     * and a function that exists never has to be replaced.
     */
    private static final String TABLE = """
            CREATE %sTABLE IF NOT EXISTS %s (
                key bytea PRIMARY KEY,
                kind text NOT NULL,
                s1 bigint,
                s2 bigint,
                s3 bigint,
                more bigint[],
                code bytea,
                expires bigint NOT NULL,
                sweep bigint
            ) WITH (fillfactor = 70)""";

    private static final String FUNCTION = """
            CREATE OR REPLACE FUNCTION {function}(k bytea, kind_in text, clock_us bigint, op text, a1 bigint, a2 bigint,
                a3 bigint, a4 bigint, a5 bigint, a6 bigint, a7 bigint, a8 bigint, a bigint[])
            RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $throttlekit$
            #variable_conflict use_variable
            DECLARE
                s1 bigint;
                s2 bigint;
                s3 bigint;
                more bigint[];
                old_kind text;
                old_expires_us bigint;
                old_version xid;
                now_us bigint;
                keep_us bigint;
                expires_us bigint;
                reply bigint[];
            BEGIN
                SELECT t.s1, t.s2, t.s3, t.more, t.kind, t.expires, t.xmin
                    INTO s1, s2, s3, more, old_kind, old_expires_us, old_version FROM {table} t WHERE t.key = k;
                LOOP
                    now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
                    IF clock_us IS NOT NULL THEN
                        keep_us := now_us + {hour};
                        now_us := clock_us;
                    END IF;
                    IF old_expires_us > now_us AND old_kind = kind_in THEN
                        -- It is there.
                    ELSIF old_expires_us > now_us THEN
                        RAISE EXCEPTION 'the key holds %, not %', old_kind, kind_in USING ERRCODE = '{mismatch}';
                    ELSE
                        s1 := NULL;
                    END IF;
                    {step}
                    IF expires_us IS NOT NULL AND s1 IS NOT NULL AND old_version IS NOT NULL THEN
                        UPDATE {table} t SET kind = kind_in, s1 = s1, s2 = s2, s3 = s3, more = more, code = NULL,
                            expires = expires_us, sweep = keep_us WHERE t.key = k AND t.xmin = old_version;
                    ELSIF expires_us IS NULL THEN
                        RETURN reply;
                    ELSIF s1 IS NOT NULL THEN
                        INSERT INTO {table} (key, kind, s1, s2, s3, more, expires, sweep)
                            VALUES (k, kind_in, s1, s2, s3, more, expires_us, keep_us) ON CONFLICT (key) DO NOTHING;
                    ELSE
                        DELETE FROM {table} t WHERE t.key = k AND t.xmin = old_version;
                    END IF;
                    IF FOUND THEN
                        RETURN reply;
                    END IF;
                    expires_us := NULL;
                    SELECT t.s1, t.s2, t.s3, t.more, t.kind, t.expires, t.xmin
                        INTO s1, s2, s3, more, old_kind, old_expires_us, old_version FROM {table} t WHERE t.key = k
                        FOR UPDATE;
                END LOOP;
            END
            $throttlekit$""";

    private static final String USUAL = """
            CREATE OR REPLACE FUNCTION {usual}(k bytea, u1 bigint, u2 bigint, u3 bigint)
            RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $throttlekit$
            #variable_conflict use_variable
            DECLARE
                started timestamptz;
                now_us bigint;
                s1 bigint;
                s2 bigint;
                s3 bigint;
            BEGIN
                {way}
                RETURN {function}(k, {else});
            END
            $throttlekit$""";

    /** A program's text that has short ways for usual calls: both of them, what they are else, and the block. */
    private static final Pattern USUAL_AND_BLOCK = Pattern.compile(
            "(?s).*\\R-- allow:\\R(?<allow>.*)\\R-- deny:\\R(?<deny>.*)\\R-- else (?<else>[^\\r\\n]*):\\R(?<block>.*)");

    /** So many arguments the function takes one by one; when there are more, it gets all of them in an array too. */
    static final int SCALARS = 8;

    /** The SQLSTATE of a {@link StateMismatchException}; the class is none of PostgreSQL's. */
    static final String MISMATCH = "TK409";
    /** With an injected clock a row is kept for so long, whatever that clock says. */
    static final long HOUR_MICROS = Duration.ofHours(1).toNanos() / 1000;

    private static final int MAX_IDENTIFIER = 63;

    /** What the name of a function for usual calls ends in. */
    static final String ALLOW = "_allow";

    static final String DENY = "_deny";

    private Ddl() {}

    static String table(TableName table, Durability durability) {
        return TABLE.formatted(durability == Durability.UNLOGGED ? "UNLOGGED " : "", table.quoted());
    }

    /** How the function path names a kind, so that it is no program's. */
    static String functionKind(String kind) {
        return kind + "()";
    }

    /** The name of a program's function, without its schema. */
    static String functionName(TableName table, String program, String text) {
        String name = table.name() + "_" + program + "_" + hash(FUNCTION + USUAL + text);
        int more = hasUsual(text) ? ALLOW.length() : 0;
        if (name.length() + more > MAX_IDENTIFIER) {
            throw new IllegalArgumentException(
                    "a program's name must fit a function's name of at most 63 characters, was " + name);
        }
        return name;
    }

    /** Whether there are functions for usual calls besides. */
    static boolean hasUsual(String text) {
        return USUAL_AND_BLOCK.matcher(text).matches();
    }

    /** The statements that make the functions of a program, the last without a semicolon. */
    static String functions(TableName table, String program, String text) {
        String name = functionName(table, program, text);
        Matcher parts = USUAL_AND_BLOCK.matcher(text);
        if (!parts.matches()) {
            return function(table, name, text);
        }
        return String.join(
                ";\n\n",
                function(table, name, parts.group("block")),
                usual(table, name, name + ALLOW, parts.group("allow"), parts.group("else")),
                usual(table, name, name + DENY, parts.group("deny"), parts.group("else")));
    }

    private static String function(TableName table, String name, String block) {
        return FUNCTION.replace("{function}", table.quoted(name))
                .replace("{table}", table.quoted())
                .replace("{mismatch}", MISMATCH)
                .replace("{hour}", Long.toString(HOUR_MICROS))
                .replace("{step}", block.strip().replace("\n", "\n        "));
    }

    private static String usual(TableName table, String name, String usualName, String way, String otherwise) {
        String[] call = otherwise.split(", ", -1);
        StringBuilder arguments = new StringBuilder(call[0]).append(", NULL");
        for (int i = 1; i <= 1 + SCALARS; i++) {
            arguments.append(", ").append(i < call.length ? call[i] : "NULL");
        }
        return USUAL.replace("{usual}", table.quoted(usualName))
                .replace("{way}", way.strip().replace("\n", "\n    "))
                .replace("{function}", table.quoted(name))
                .replace("{else}", arguments.append(", NULL"))
                .replace("{table}", table.quoted());
    }

    /** Everything that the strategies of the core need. Reads the programs' texts. */
    static String everything(TableName table, Durability durability) {
        StringBuilder all = new StringBuilder(table(table, durability)).append(";\n");
        for (Program<?> program : programs()) {
            String step = Objects.requireNonNull(program.text(Dialect.POSTGRES), program::name);
            all.append('\n').append(functions(table, program.name(), step)).append(";\n");
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
                program(SlidingWindowLog.of(1, second)),
                program(DepartureLine.of(BigDecimal.ONE, second).reserve(1)));
    }

    private static <S> Program<?> program(Strategy<S> strategy) {
        return program(strategy.peek());
    }

    private static Program<?> program(Transform<?, ?> transform) {
        return Objects.requireNonNull(transform.program(), "program");
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
