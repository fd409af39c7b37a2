package io.throttlekit.limiter;

import io.throttlekit.Decision;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What became of one key of several that were checked together: a decision, or an error of its own.
 *
 * @param key the key
 * @param decision the decision, or null if there is an error
 * @param error the error, or null if there is a decision
 */
public record Checked(
        String key, @Nullable Decision decision, @Nullable Throwable error) {
    /**
     * Checks that there is one of the two.
     *
     * @throws IllegalArgumentException if there are both or neither
     */
    public Checked {
        Objects.requireNonNull(key, "key");
        if ((decision == null) == (error == null)) {
            throw new IllegalArgumentException("there must be either a decision or an error");
        }
    }

    /**
     * Whether this key's request may go on.
     *
     * @return false when denied, and when there is an error
     */
    public boolean allowed() {
        return decision != null && decision.allowed();
    }
}
