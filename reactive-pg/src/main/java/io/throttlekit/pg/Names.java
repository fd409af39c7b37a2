package io.throttlekit.pg;

import java.nio.charset.StandardCharsets;

/**
 * The store's table where it was found, and what is said to it.
 *
 * @param table its name with its schema
 * @param read what the function path reads after it has the key's lock: the time, then the row
 * @param write what it writes; touches no row where a program's state or another kind lives
 * @param delete how it forgets a key
 * @param reset how anyone forgets a key
 * @param salt what this table's advisory locks begin with
 */
record Names(TableName table, String read, String write, String delete, String reset, long salt) {
    static Names of(TableName table) {
        String t = table.quoted();
        return new Names(
                table,
                "SELECT " + SERVER_MICROS + ", t.kind, t.code, t.expires FROM (VALUES (1)) one LEFT JOIN " + t
                        + " t ON t.key = $1",
                "INSERT INTO " + t + " AS t (key, kind, code, expires, sweep) VALUES ($1, $2, $3, $4, $5)"
                        + " ON CONFLICT (key) DO UPDATE SET kind = excluded.kind, s1 = NULL, s2 = NULL, s3 = NULL,"
                        + " more = NULL, code = excluded.code, expires = excluded.expires, sweep = excluded.sweep"
                        + " WHERE t.kind = excluded.kind OR t.expires <= $6",
                "DELETE FROM " + t + " t WHERE t.key = $1 AND t.kind = $2",
                "DELETE FROM " + t + " t WHERE t.key = $1",
                Keys.hash(0, table.toString().getBytes(StandardCharsets.UTF_8)));
    }

    /** The server's clock in epoch microseconds; not {@code now()}, which is older than the wait for a lock. */
    static final String SERVER_MICROS = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

    /** The advisory lock of a key. Two keys may share one; then one of them waits for nothing. */
    long lockOf(byte[] key) {
        return Keys.hash(salt, key);
    }

    /** The advisory lock for changing the schema. */
    long schemaLock() {
        return salt ^ 1;
    }

    /** The advisory lock of the node that sweeps. */
    long sweepLock() {
        return salt ^ 2;
    }
}
