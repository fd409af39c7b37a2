package io.throttlekit.shaping;

import io.throttlekit.Clock;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * The time of {@code Schedulers.parallel()}, whichever scheduler that is at the moment.
 *
 * <p>A test's virtual time replaces that scheduler and later puts it back, perhaps after the shaper was made.
 */
final class ParallelClock implements Clock {
    private record Source(Scheduler scheduler, Clock clock) {}

    private volatile Source source = source(Schedulers.parallel());

    private static Source source(Scheduler scheduler) {
        return new Source(scheduler, Clock.of(scheduler));
    }

    private Clock current() {
        Scheduler parallel = Schedulers.parallel();
        Source known = source;
        return known.scheduler == parallel ? known.clock : change(parallel);
    }

    private synchronized Clock change(Scheduler parallel) {
        if (source.scheduler != parallel) {
            source = source(parallel);
        }
        return source.clock;
    }

    @Override
    public long epochMicros() {
        return current().epochMicros();
    }

    @Override
    public long monotonicNanos() {
        return current().monotonicNanos();
    }
}
