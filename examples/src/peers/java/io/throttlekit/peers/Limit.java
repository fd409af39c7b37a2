package io.throttlekit.peers;

import java.util.concurrent.Future;

/** One key's limit in a library, which is asked without waiting for units. */
@FunctionalInterface
public interface Limit {
    /** Asks for some units at once; blocks for a round trip at most. */
    Answer ask(long cost) throws Exception;

    /**
     * Waits for one unit, by the library's own way to wait.
     *
     * @return done when the unit is there; cancelled by {@link Future#cancel}
     */
    default Future<?> await() {
        throw new NotApplicable("it has no way to wait for a unit");
    }
}
