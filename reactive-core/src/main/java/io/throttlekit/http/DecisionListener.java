package io.throttlekit.http;

import io.throttlekit.Decision;
import io.throttlekit.FailMode;
import io.throttlekit.StoreUnavailableException;
import java.time.Duration;

/**
 * Hears what is decided, for metrics and logs. It never hears a key.
 *
 * <p>The methods run on the thread of the check, for every request, and must not block. What they throw is
 * logged and otherwise ignored.
 */
public interface DecisionListener {
    /**
     * A limit was checked.
     *
     * @param policy the name of the limit
     * @param decision what it decided
     * @param enforced false in a dry run, in which a denial is only told here
     * @param latency from asking the store to its answer
     */
    default void decided(String policy, Decision decision, boolean enforced, Duration latency) {}

    /**
     * A limit could not be checked, for the store's sake.
     *
     * @param policy the name of the limit
     * @param error what the store said
     * @param failMode what becomes of the request
     * @param latency from asking the store to its failure
     */
    default void undecided(String policy, StoreUnavailableException error, FailMode failMode, Duration latency) {}
}
