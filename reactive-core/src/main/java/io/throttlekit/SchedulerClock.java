package io.throttlekit;

import java.util.Objects;
import java.util.concurrent.TimeUnit;
import reactor.core.scheduler.Scheduler;

/** Epoch from the scheduler's milliseconds once, then its nanoseconds: both move with virtual time. */
final class SchedulerClock implements Clock {
    private final Scheduler scheduler;
    private final long anchorMicros;
    private final long anchorNanos;

    SchedulerClock(Scheduler scheduler) {
        this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
        this.anchorMicros = Math.multiplyExact(scheduler.now(TimeUnit.MILLISECONDS), 1000L);
        this.anchorNanos = scheduler.now(TimeUnit.NANOSECONDS);
    }

    @Override
    public long epochMicros() {
        return anchorMicros + Math.floorDiv(monotonicNanos() - anchorNanos, 1000L);
    }

    @Override
    public long monotonicNanos() {
        return scheduler.now(TimeUnit.NANOSECONDS);
    }
}
