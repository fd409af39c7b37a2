package io.throttlekit.shaping;

import java.time.Duration;

/** What is asked of a scheduler. */
final class Timers {
    /** Longer waits are made of several: not every timer holds a month, and none a century. */
    private static final long LONGEST_NANOS = Duration.ofHours(12).toNanos();

    private Timers() {}

    static long bounded(long nanos) {
        return Math.min(nanos, LONGEST_NANOS);
    }

    /** At most 142 years, so it cannot overflow. */
    static long nanos(long micros) {
        return micros * 1000;
    }
}
