package io.throttlekit.store;

import io.throttlekit.Clock;
import java.lang.ref.WeakReference;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** A clock that a daemon thread reads once a millisecond and everybody else only looks at. */
final class CoarseClock implements Clock {
    private final Clock exact;
    private final ScheduledThreadPoolExecutor ticker;
    private volatile long micros;

    CoarseClock(Clock exact) {
        this.exact = exact;
        this.micros = exact.epochMicros();
        this.ticker = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "throttlekit-clock");
            thread.setDaemon(true);
            return thread;
        });
        start(new WeakReference<>(this), ticker);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the tick cannot fail, and ends with its executor
    private static void start(WeakReference<CoarseClock> clock, ScheduledThreadPoolExecutor ticker) {
        Runnable tick = () -> {
            CoarseClock live = clock.get();
            if (live == null) {
                ticker.shutdown();
            } else {
                live.micros = live.exact.epochMicros();
            }
        };
        ticker.scheduleAtFixedRate(tick, 1, 1, TimeUnit.MILLISECONDS);
    }

    void stop() {
        ticker.shutdownNow();
    }

    @Override
    public long epochMicros() {
        return micros;
    }

    @Override
    public long monotonicNanos() {
        return exact.monotonicNanos();
    }
}
