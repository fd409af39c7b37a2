package io.throttlekit;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A clock that stands still until it is told to move, for tests and for replaying recorded traffic.
 *
 * <p>{@link #set} moves the time of day alone, backwards too, as a wall clock that is corrected does;
 * {@link #advance} moves both readings.
 */
public final class ManualClock implements Clock {
    private final AtomicLong micros;
    private final AtomicLong nanos = new AtomicLong();

    private ManualClock(long epochMicros) {
        this.micros = new AtomicLong(epochMicros);
    }

    /**
     * A clock that stands at the given instant.
     *
     * @param epochMicros microseconds since 1970
     * @return a new clock
     */
    public static ManualClock at(long epochMicros) {
        return new ManualClock(epochMicros);
    }

    /**
     * Sets the time of day; the monotonic reading stays.
     *
     * @param epochMicros microseconds since 1970, earlier than now or later
     */
    public void set(long epochMicros) {
        micros.set(epochMicros);
    }

    /**
     * Moves both readings forward.
     *
     * @param by zero or more, whole microseconds
     * @throws IllegalArgumentException if {@code by} is negative or finer than a microsecond
     */
    public void advance(Duration by) {
        if (by.isNegative() || !by.truncatedTo(ChronoUnit.MICROS).equals(by)) {
            throw new IllegalArgumentException("by must be zero or more whole microseconds, was " + by);
        }
        long delta = by.dividedBy(ChronoUnit.MICROS.getDuration());
        micros.addAndGet(delta);
        nanos.addAndGet(delta * 1000);
    }

    @Override
    public long epochMicros() {
        return micros.get();
    }

    @Override
    public long monotonicNanos() {
        return nanos.get();
    }
}
