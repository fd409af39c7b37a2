package io.throttlekit.redis;

import io.throttlekit.StateMismatchException;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.ThrottleKitException;
import io.vertx.redis.client.impl.types.ErrorType;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the failure of a command means: whether it was written, whether it was executed, and what to do.
 *
 * <p>The Redis client tells its failures apart by their messages only, so this does, too. What is not known here
 * counts as a command whose fate is unknown. Messages of the client may carry the address with its password,
 * and Redis quotes arguments: so ours are made here, and a cause is passed on only without user info.
 */
final class Failures {
    /** What can be done about a failed command. */
    enum Kind {
        /** It was not executed since this connection is closed or leads to the wrong node. */
        NOT_SENT,
        /** It was not written since the client holds too many already. */
        CLIENT_FULL,
        /** It was not executed since Redis does not know the script. */
        NO_SCRIPT,
        /** It was not executed since this server is a replica now. */
        READ_ONLY,
        /** It was not executed since the key holds something else. */
        MISMATCH,
        /** Redis refused it. */
        REFUSED,
        /** It was written, and the connection broke. */
        UNKNOWN_FATE;

        /** Whether Redis said so. */
        boolean isReply() {
            return this == NO_SCRIPT || this == READ_ONLY || this == MISMATCH || this == REFUSED;
        }
    }

    private static final Pattern USER_INFO = Pattern.compile("://[^/\\s]*@");

    private Failures() {}

    static Kind of(Throwable failure) {
        String message = String.valueOf(failure.getMessage());
        if (!(failure instanceof ErrorType)) {
            if (message.equals("Connection is closed")
                    || message.startsWith("Failed obtaining connection")
                    || message.startsWith("Redirect inside a transaction")) {
                return Kind.NOT_SENT;
            }
            if (message.equals("Redis waiting queue is full")) {
                return Kind.CLIENT_FULL;
            }
            return message.startsWith("Transactions in Redis cluster disabled") ? Kind.REFUSED : Kind.UNKNOWN_FATE;
        }
        if (message.equals("CONNECTION_CLOSED") || message.startsWith("ILLEGAL_STATE")) {
            return Kind.UNKNOWN_FATE;
        }
        if (message.startsWith("NOSCRIPT")) {
            return Kind.NO_SCRIPT;
        }
        // Redis 6 puts the error of a command in a script behind words of its own.
        if (message.contains("READONLY ")) {
            return Kind.READ_ONLY;
        }
        if (message.contains("WRONGTYPE ") || message.contains("STATEMISMATCH ")) {
            return Kind.MISMATCH;
        }
        return Kind.REFUSED;
    }

    static StoreUnavailableException closed(boolean mayHaveCharged) {
        return new StoreUnavailableException(Reason.CLOSED, mayHaveCharged, "the store is closed", null);
    }

    static StoreUnavailableException timeout(boolean sent) {
        String message = sent ? "no answer before the deadline" : "the deadline passed before it could be sent";
        return new StoreUnavailableException(Reason.TIMEOUT, sent, message, null);
    }

    static StoreUnavailableException disconnected(boolean sent, Throwable failure) {
        String message = sent ? "the connection broke before the answer came" : "there is no connection to Redis";
        return new StoreUnavailableException(Reason.DISCONNECTED, sent, message, harmless(failure));
    }

    static StoreUnavailableException unexpected(String found) {
        return new StoreUnavailableException(
                Reason.DISCONNECTED, true, "the connection is out of step: " + found + " was no reply", null);
    }

    static ThrottleKitException of(Kind kind, Throwable failure) {
        return switch (kind) {
            case NOT_SENT -> disconnected(false, failure);
            case UNKNOWN_FATE -> disconnected(true, failure);
            case CLIENT_FULL ->
                new StoreUnavailableException(
                        Reason.OVERLOADED, false, "too many commands await their replies", harmless(failure));
            case MISMATCH ->
                new StateMismatchException("the key holds state of another strategy or path", harmless(failure));
            case NO_SCRIPT, READ_ONLY, REFUSED ->
                new StoreUnavailableException(
                        Reason.SERVER, false, "Redis refused the command: " + code(failure), harmless(failure));
        };
    }

    /** The first word, which is the error's code. */
    private static String code(Throwable failure) {
        String message = String.valueOf(failure.getMessage());
        int end = message.indexOf(' ');
        return end < 0 ? message : message.substring(0, end);
    }

    static String describe(Throwable failure) {
        return USER_INFO.matcher(String.valueOf(failure.getMessage())).replaceAll("://");
    }

    private static @Nullable Throwable harmless(Throwable failure) {
        for (Throwable t = failure; t != null; t = t.getCause()) {
            if (USER_INFO.matcher(String.valueOf(t.getMessage())).find()) {
                return new IllegalStateException(describe(failure));
            }
        }
        return failure;
    }
}
