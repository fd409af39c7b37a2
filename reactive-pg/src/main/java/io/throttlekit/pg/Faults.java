package io.throttlekit.pg;

import io.throttlekit.StateMismatchException;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.ThrottleKitException;
import io.vertx.pgclient.PgException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Gives what went wrong its type. */
final class Faults {
    static final String UNDEFINED_FUNCTION = "42883";

    /** The only error of which the server says that it does not know whether the transaction took place. */
    private static final String UNKNOWN = "40003";

    private static final Set<String> FORBIDDEN = Set.of("42501", "42704");
    private static final Set<String> WORTH_ANOTHER_TRY = Set.of("40001", "40P01");
    private static final Set<String> TIMED_OUT = Set.of("57014", "55P03");
    private static final Set<String> SESSION_ENDED = Set.of("57P01", "57P02", "57P03", "57P05", "25P03", "25P04");
    private static final Set<String> USELESS_SESSION = Set.of("25006", "26000", "42P01", "3F000");

    private Faults() {}

    static StoreUnavailableException timeout(boolean sent) {
        return new StoreUnavailableException(
                Reason.TIMEOUT, sent, "no answer from PostgreSQL within the deadline", null);
    }

    static StoreUnavailableException overloaded(int most) {
        return new StoreUnavailableException(Reason.OVERLOADED, false, most + " calls are in flight already", null);
    }

    static StoreUnavailableException closed(boolean sent) {
        return new StoreUnavailableException(Reason.CLOSED, sent, "the store is closed", null);
    }

    static StoreUnavailableException disconnected(boolean sent, @Nullable Throwable cause) {
        return new StoreUnavailableException(
                Reason.DISCONNECTED,
                sent,
                "no connection to PostgreSQL" + (cause == null ? "" : ": " + text(cause)),
                cause);
    }

    /**
     * What a failed statement means.
     *
     * @param cause what the client said
     * @param sent whether something that may change a key was sent
     */
    static ThrottleKitException of(Throwable cause, boolean sent) {
        if (cause instanceof ThrottleKitException known) {
            return known;
        }
        String state = sqlState(cause);
        if (state == null || sessionEnded(cause)) {
            return disconnected(sent, cause);
        }
        if (state.equals(Ddl.MISMATCH)) {
            return new StateMismatchException(text(cause), cause);
        }
        // Any other ERROR rolls back what it belongs to.
        boolean unknown = sent && state.equals(UNKNOWN);
        if (TIMED_OUT.contains(state)) {
            return new StoreUnavailableException(Reason.TIMEOUT, unknown, "PostgreSQL: " + text(cause), cause);
        }
        return new StoreUnavailableException(Reason.SERVER, unknown, "PostgreSQL: " + text(cause), cause);
    }

    /** Whether the server said that nothing has changed, and can be asked again. */
    static boolean rolledBack(Throwable cause) {
        return !sessionEnded(cause) && !UNKNOWN.equals(sqlState(cause));
    }

    /** Whether the connection is no more: the server said so, or it is not the server's error at all. */
    static boolean sessionEnded(Throwable cause) {
        String state = sqlState(cause);
        return state == null || state.startsWith("08") || SESSION_ENDED.contains(state);
    }

    /** Whether a function or a table may not be made by this user. */
    static boolean forbidden(Throwable cause) {
        return has(FORBIDDEN, cause);
    }

    /** Whether a transaction was rolled back for the sake of another and may succeed when repeated. */
    static boolean worthAnotherTry(Throwable cause) {
        return has(WORTH_ANOTHER_TRY, cause);
    }

    /** Whether another connection may do better: to the new primary, or with the table there again. */
    static boolean uselessSession(Throwable cause) {
        return has(USELESS_SESSION, cause);
    }

    private static boolean has(Set<String> states, Throwable cause) {
        String state = sqlState(cause);
        return state != null && states.contains(state);
    }

    static @Nullable String sqlState(Throwable cause) {
        return cause instanceof PgException e ? e.getSqlState() : null;
    }

    private static String text(Throwable cause) {
        if (cause instanceof PgException e) {
            return e.getErrorMessage() + " (" + e.getSqlState() + ")";
        }
        String message = cause.getMessage();
        return message == null ? cause.getClass().getSimpleName() : message;
    }
}
