package io.throttlekit;

/** A language that a store can run a {@link Program} in. */
public enum Dialect {
    /** Lua 5.1 as Redis 6.2 and later and Valkey run it. */
    REDIS_LUA("lua"),
    /**
     * PL/pgSQL, PostgreSQL 13 and later: a block, {@code DECLARE … BEGIN … END;}, that a store puts into a
     * function of its own.
     *
     * <p>It is a pure computation and may be run twice for one call. It finds
     *
     * <ul>
     *   <li>the state in {@code s1}, {@code s2}, {@code s3} (bigint) and {@code more} (bigint[]), as it left them;
     *       {@code s1} is NULL when there is none or it has expired, and then the others say nothing,
     *   <li>{@code old_expires_us}, when that state expires,
     *   <li>{@code now_us bigint} and {@code op text}, the time and the operation,
     *   <li>the arguments in {@code a1} to {@code a8} (bigint) and, when there are more than eight, all of them in
     *       {@code a} (bigint[]).
     * </ul>
     *
     * <p>It leaves {@code reply bigint[]}, and when there is something to write {@code expires_us bigint}: then the state
     * that follows is in {@code s1} to {@code more}, or there is none if {@code s1} is NULL. Scalars rather than one
     * array each, since PL/pgSQL is several times faster with them.
     *
     * <p>Before the block there may be two short ways for {@linkplain Program#usual() usual calls}, one after the line
     * {@code -- allow:} and one after the line {@code -- deny:}. A store takes the second for keys that it saw denied
     * last, else the first. Each has the numbers in {@code u1}, {@code u2} and {@code u3}, the key in {@code k}, the table
     * as <code>{table} t</code>, and {@code started} (timestamptz), {@code now_us}, {@code s1}, {@code s2} and {@code s3}
     * to fill. It returns the reply, or has changed nothing: then the block decides, called as the line before it says,
     * {@code -- else KIND, OPERATION, ARGUMENT, …:}. To be exact, the first is an UPDATE that asks that
     * {@code clock_timestamp()} be not long past the time that was read before, since it may have waited for the row;
     * and the second reads the row before the clock.
     */
    POSTGRES("sql");

    private final String extension;

    Dialect(String extension) {
        this.extension = extension;
    }

    /**
     * The file extension of programs in this language.
     *
     * @return the extension without its dot
     */
    public String extension() {
        return extension;
    }
}
