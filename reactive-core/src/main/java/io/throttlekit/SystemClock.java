package io.throttlekit;

import java.time.Instant;

/**
 * The wall clock, read through {@code nanoTime}.
 *
 * <p>Reading the wall with microseconds costs about three times what {@code System.nanoTime()} does, and a
 * check in memory is little more than its clock read. So the wall is read once a millisecond and the
 * anchor carries the time in between. Between anchors only {@code nanoTime} counts, whose origin is
 * arbitrary: nothing but differences of it is ever used.
 *
 * <p>An anchor is never set behind the time that the previous one would tell now. If the wall is ahead, the
 * new anchor jumps to it; if it is behind (a step back, or a slow wall), the clock takes back at most half
 * of the time that passed, so it still moves forward while the wall catches up.
 */
class SystemClock implements Clock {
    private static final long ANCHOR_NANOS = 1_000_000;
    /** A reading during which the thread was held up longer than this says too little about the wall. */
    private static final long MAX_READ_NANOS = 50_000;

    private static final class Anchor {
        final long micros;
        final long nanos;

        Anchor(long micros, long nanos) {
            this.micros = micros;
            this.nanos = nanos;
        }
    }

    private volatile Anchor anchor;

    SystemClock() {
        this.anchor = new Anchor(wallMicros(), monotonicNanos());
    }

    /** The wall; tests put another one here. */
    long wallMicros() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000L + now.getNano() / 1000;
    }

    @Override
    public long monotonicNanos() {
        return System.nanoTime();
    }

    @Override
    public long epochMicros() {
        Anchor a = anchor;
        long nanos = monotonicNanos();
        long elapsed = nanos - a.nanos;
        if (elapsed > ANCHOR_NANOS) {
            return reanchor(a, nanos);
        }
        // A thread may have been overtaken by a newer anchor: then elapsed is negative and a bit old.
        return a.micros + (elapsed > 0 ? elapsed / 1000 : 0);
    }

    private synchronized long reanchor(Anchor seen, long nanosBefore) {
        Anchor a = anchor;
        if (a != seen) {
            return a.micros + Math.max(0, nanosBefore - a.nanos) / 1000;
        }
        long wall = wallMicros();
        long nanos = monotonicNanos();
        long elapsed = (nanos - a.nanos) / 1000;
        long told = a.micros + elapsed;
        if (wall < told && nanos - nanosBefore > MAX_READ_NANOS) {
            return told;
        }
        long now = wall >= told ? wall : told - Math.min(told - wall, elapsed / 2);
        anchor = new Anchor(now, nanos);
        return now;
    }
}
