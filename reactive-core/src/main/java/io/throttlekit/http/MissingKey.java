package io.throttlekit.http;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What becomes of a request whose key is not there: because there is none, it fails, or it never comes. */
public final class MissingKey {
    private static final MissingKey ERROR = new MissingKey(false, null);
    private static final MissingKey UNLIMITED = new MissingKey(true, null);

    private final boolean unlimited;
    private final @Nullable String shared;

    private MissingKey(boolean unlimited, @Nullable String shared) {
        this.unlimited = unlimited;
        this.shared = shared;
    }

    /**
     * The request ends with an error, as any other fault in a program does.
     *
     * @return the policy
     */
    public static MissingKey error() {
        return ERROR;
    }

    /**
     * The limit does not apply to the request. Whoever can bring this about is not limited at all.
     *
     * @return the policy
     */
    public static MissingKey unlimited() {
        return UNLIMITED;
    }

    /**
     * All such requests count on one key.
     *
     * @param key that key, which no other request should have
     * @return the policy
     * @throws IllegalArgumentException if it is empty
     */
    public static MissingKey shared(String key) {
        if (Objects.requireNonNull(key, "key").isEmpty()) {
            throw new IllegalArgumentException("key must have at least one character");
        }
        return new MissingKey(false, key);
    }

    boolean isUnlimited() {
        return unlimited;
    }

    @Nullable
    String sharedKey() {
        return shared;
    }

    @Override
    public String toString() {
        return shared == null ? (unlimited ? "unlimited" : "error") : "shared";
    }
}
