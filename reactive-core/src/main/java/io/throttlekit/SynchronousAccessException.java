package io.throttlekit;

/** A synchronous call on a limiter whose store is reached over a network: use the {@code Mono}. */
public final class SynchronousAccessException extends ThrottleKitException {
    private static final long serialVersionUID = 1L;

    /**
     * A misuse.
     *
     * @param message which call met which store
     */
    public SynchronousAccessException(String message) {
        super(message, null);
    }
}
