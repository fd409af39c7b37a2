package io.throttlekit.pg;

import io.throttlekit.Clock;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The options of a store, checked.
 *
 * @param table its table
 * @param prefix what every key begins with, without the colon
 * @param deadline of every call, from its subscription
 * @param connections how many
 * @param maxInFlight calls at once
 * @param programs whether strategies may run as functions of the server
 * @param shareCommits whether calls on one key may share a transaction
 * @param durability what a crash may lose
 * @param createSchema whether table and functions may be made
 * @param sweepInterval zero for never
 * @param sweepBatch rows deleted by one statement at most
 * @param clock null for the server's
 */
record Settings(
        TableName table,
        String prefix,
        Duration deadline,
        int connections,
        int maxInFlight,
        boolean programs,
        boolean shareCommits,
        Durability durability,
        boolean createSchema,
        Duration sweepInterval,
        int sweepBatch,
        @Nullable Clock clock) {

    private static final List<String> PARAMETERS = List.of(
            "default_transaction_isolation",
            "statement_timeout",
            "idle_in_transaction_session_timeout",
            "synchronous_commit");

    /*
     * What every connection of the store is set to. READ COMMITTED, whatever the database's default: functions and
     * the function path rely on it. The server gives up a statement when we do, so that a table someone else has locked
     * holds up nobody for longer. Synchronous commit is switched on where it is off and otherwise left at what the
     * administrator chose, which may be more.
     */
    String session() {
        return "SET default_transaction_isolation = 'read committed'; "
                + statementTimeout(deadline)
                + "; SET idle_in_transaction_session_timeout = "
                + (2 * deadline.toMillis() + 1000)
                + switch (durability) {
                    case DURABLE ->
                        "; SELECT set_config('synchronous_commit', 'on', false) WHERE"
                                + " current_setting('synchronous_commit') = 'off'";
                    case ASYNC_COMMIT -> "; SET synchronous_commit = off";
                    case UNLOGGED -> "";
                };
    }

    static String statementTimeout(Duration timeout) {
        return "SET statement_timeout = " + timeout.toMillis();
    }

    /** Undoes {@link #session()}, for a connection that goes back to a pool. */
    static String endOfSession() {
        return "RESET " + String.join("; RESET ", PARAMETERS);
    }

    long deadlineNanos() {
        return deadline.toNanos();
    }
}
