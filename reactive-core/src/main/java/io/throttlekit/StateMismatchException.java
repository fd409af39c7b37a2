package io.throttlekit;

import org.jspecify.annotations.Nullable;

/**
 * A key holds state of another strategy, or of the other path of the same store. Two limiters share a key
 * by mistake: give each its own prefix.
 */
public final class StateMismatchException extends ThrottleKitException {
    private static final long serialVersionUID = 1L;

    /**
     * A mismatch.
     *
     * @param message what was expected and what was found
     * @param cause what caused it, if something did
     */
    public StateMismatchException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
