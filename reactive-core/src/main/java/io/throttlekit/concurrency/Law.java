package io.throttlekit.concurrency;

/**
 * How far a limit moves, once it is known which way. Implementations are pure: what was measured is kept by
 * {@link LimitControl}.
 */
interface Law {
    /** Where a limit goes that was in use without a queue; {@code shrunkBefore} once it was ever too high. */
    double grow(double limit, int samples, boolean shrunkBefore);

    /**
     * Where a limit goes that is too high.
     *
     * @param gradient the no-load RTT over the measured one, 0.5 to 1; 0.5 after a drop
     */
    double shrink(double limit, double gradient);

    /** Which part of that way is gone on the word of so many samples, 0 to 1. */
    double weight(int samples);
}
