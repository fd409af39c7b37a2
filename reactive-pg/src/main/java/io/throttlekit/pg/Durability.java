package io.throttlekit.pg;

/** What a crash of the database server may lose. Whatever is lost, a limit is then looser for a while, never tighter. */
public enum Durability {
    /**
     * An answer comes when its change is on disk: a crash loses nothing that was answered. Costs one flush of
     * the write-ahead log per allow, shared among those that commit at once.
     */
    DURABLE,
    /**
     * An answer does not wait for the disk ({@code synchronous_commit = off}): a crash loses the changes of
     * about the last half second, and nothing else.
     */
    ASYNC_COMMIT,
    /**
     * The table is {@code UNLOGGED}: a crash empties it, so that every key starts afresh, and a standby has no
     * copy of it. A clean restart loses nothing.
     */
    UNLOGGED
}
