package io.throttlekit;

import reactor.core.scheduler.Scheduler;

/**
 * Where a store in this process takes its time from: epoch microseconds, and a monotonic reading for
 * measuring waits. Both methods are called from any thread and never block.
 */
public interface Clock {
    /**
     * The time of day.
     *
     * @return microseconds since 1970-01-01T00:00Z; may be negative
     */
    long epochMicros();

    /**
     * A reading that only ever grows, for differences alone.
     *
     * @return nanoseconds from an arbitrary origin; may be negative or close to overflow
     */
    long monotonicNanos();

    /**
     * The system's clock, with microseconds.
     *
     * <p>It follows the wall clock forward within a millisecond. When the wall clock steps back it does
     * not: it goes on at half speed until the wall clock has caught up, so that time never runs backwards
     * and an hour's step does not freeze every limit for an hour.
     *
     * @return a new clock
     */
    static Clock system() {
        return new SystemClock();
    }

    /**
     * A clock that tells the time of a Reactor scheduler, so that virtual time moves limits too.
     *
     * <p>The epoch is {@code scheduler.now(MILLISECONDS)} at this call; from there on it advances with
     * {@code scheduler.now(NANOSECONDS)}.
     *
     * @param scheduler the scheduler to ask
     * @return a new clock
     */
    static Clock of(Scheduler scheduler) {
        return new SchedulerClock(scheduler);
    }
}
