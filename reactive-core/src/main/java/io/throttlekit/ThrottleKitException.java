package io.throttlekit;

import org.jspecify.annotations.Nullable;

/** What every error of this library extends, except {@link IllegalArgumentException} for bad arguments. */
public abstract class ThrottleKitException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * An error.
     *
     * @param message what went wrong, without secrets and without keys
     * @param cause what caused it
     */
    protected ThrottleKitException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /**
     * An error that is an answer rather than a fault, and so carries no stack trace.
     *
     * @param message what was decided
     */
    protected ThrottleKitException(String message) {
        super(message, null, false, false);
    }
}
