package io.throttlekit.peers;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;

/** The wall clock of a node whose clock is wrong; every {@link SkewedNode} loads this class for itself. */
public final class SkewedClock {
    private static volatile long offsetMillis;

    private SkewedClock() {}

    /** By how much it is ahead. */
    public static void set(long millis) {
        offsetMillis = millis;
    }

    /** Stands for {@link System#currentTimeMillis}. */
    public static long currentTimeMillis() {
        return System.currentTimeMillis() + offsetMillis;
    }

    /** Stands for {@link Instant#now()}. */
    public static Instant now() {
        return Instant.now().plusMillis(offsetMillis);
    }

    /** Stands for {@link Clock#systemUTC}. */
    public static Clock systemUTC() {
        return Clock.offset(Clock.systemUTC(), Duration.ofMillis(offsetMillis));
    }
}
