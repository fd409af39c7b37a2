package io.throttlekit.concurrency;

import io.throttlekit.ThrottleKitException;

/** As many requests are in flight as the limit allows. It is an answer and no fault, and has no stack trace. */
public final class ConcurrencyLimitException extends ThrottleKitException {
    private static final long serialVersionUID = 1L;

    private final int limit;

    /**
     * A rejection.
     *
     * @param limit the limit that was reached
     */
    public ConcurrencyLimitException(int limit) {
        super("concurrency limit reached: " + limit + " in flight");
        this.limit = limit;
    }

    /**
     * The limit that was reached.
     *
     * @return at least 1
     */
    public int limit() {
        return limit;
    }
}
