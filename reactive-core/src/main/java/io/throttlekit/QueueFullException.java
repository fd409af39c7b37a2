package io.throttlekit;

import java.time.Duration;
import java.util.Objects;

/** A shaper's queue has no room. It is an answer rather than a fault, and has no stack trace. */
public final class QueueFullException extends ThrottleKitException {
    private static final long serialVersionUID = 1L;

    private final Duration retryAfter;

    /**
     * A rejection.
     *
     * @param retryAfter the wait until the queue has room
     */
    public QueueFullException(Duration retryAfter) {
        super("queue full: retry after " + retryAfter.toMillis() + " ms");
        this.retryAfter = Objects.requireNonNull(retryAfter, "retryAfter");
    }

    /**
     * The wait until the queue has room.
     *
     * @return more than zero
     */
    public Duration retryAfter() {
        return retryAfter;
    }
}
