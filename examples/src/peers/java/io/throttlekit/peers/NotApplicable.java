package io.throttlekit.peers;

/** A library cannot be asked that, and promises nothing about it. */
public final class NotApplicable extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Takes the reason, for a foot note. */
    public NotApplicable(String reason) {
        super(reason);
    }
}
