package io.throttlekit;

/** A language that a store can run a {@link Program} in. */
public enum Dialect {
    /** Lua 5.1 as Redis 6.2 and later and Valkey run it. */
    REDIS_LUA("lua"),
    /** PL/pgSQL, PostgreSQL 13 and later. */
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
