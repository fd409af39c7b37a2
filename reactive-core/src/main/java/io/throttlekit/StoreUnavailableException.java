package io.throttlekit;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The store could not decide. It never means yes and never means no: a {@link FailMode} says which. */
public final class StoreUnavailableException extends ThrottleKitException {
    private static final long serialVersionUID = 1L;

    /** Why the store could not decide. */
    public enum Reason {
        /** The deadline passed before an answer came. */
        TIMEOUT,
        /** Too many calls are in flight; nothing was sent. */
        OVERLOADED,
        /** There is no connection, or it broke. */
        DISCONNECTED,
        /** The server answered with an error. */
        SERVER,
        /** The store is closed. */
        CLOSED
    }

    private final Reason reason;
    private final boolean mayHaveCharged;

    /**
     * An outage.
     *
     * @param reason why
     * @param mayHaveCharged whether the change may have happened although no answer came
     * @param message what went wrong, without secrets and without keys
     * @param cause what caused it, if something did
     */
    public StoreUnavailableException(Reason reason, boolean mayHaveCharged, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = Objects.requireNonNull(reason, "reason");
        this.mayHaveCharged = mayHaveCharged;
    }

    /**
     * Why the store could not decide.
     *
     * @return the reason
     */
    public Reason reason() {
        return reason;
    }

    /**
     * Whether the change may have happened although no answer came: a command was sent and its fate is
     * unknown. Such a command is never sent again.
     *
     * @return false when certainly nothing was charged
     */
    public boolean mayHaveCharged() {
        return mayHaveCharged;
    }
}
