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
     *   <li>{@code state bigint[]}, NULL when there is none or it has expired,
     *   <li>{@code now_us bigint}, {@code op text} and {@code a bigint[]}: the time, the operation and the
     *       arguments, counted from 1,
     *   <li>{@code old_expires_us bigint}, when the state expires,
     * </ul>
     *
     * and leaves
     *
     * <ul>
     *   <li>{@code reply bigint[]}, always,
     *   <li>{@code changed}, true when there is something to write: then also {@code next bigint[]}, the state
     *       that follows or NULL for none, and {@code expires_us bigint}, when that expires.
     * </ul>
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
