package io.throttlekit.store;

import io.throttlekit.Clock;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * Sweeps a keeper now and then on a daemon thread that exists only while there are keys.
 *
 * <p>The thread holds the sweeper weakly: a store that nobody references any more is collected with its
 * keys, and its thread ends at the next turn.
 */
final class Sweeper {
    private final Keeper keeper;
    private final Clock clock;
    private final long intervalNanos;
    private volatile boolean awake;
    private boolean stopped;
    private @Nullable ScheduledThreadPoolExecutor executor;

    Sweeper(Keeper keeper, Clock clock, Duration interval) {
        this.keeper = keeper;
        this.clock = clock;
        this.intervalNanos = TimeUnit.NANOSECONDS.convert(interval);
        this.awake = intervalNanos == 0;
    }

    /** Makes sure that a sweep will come. To be called after a key was added. */
    void wake() {
        if (!awake) {
            start();
        }
    }

    private synchronized void start() {
        if (awake || stopped) {
            return;
        }
        awake = true;
        if (executor == null) {
            executor = new ScheduledThreadPoolExecutor(1, task -> {
                Thread thread = new Thread(task, "throttlekit-sweep");
                thread.setDaemon(true);
                return thread;
            });
            executor.setKeepAliveTime(1, TimeUnit.SECONDS);
            executor.allowCoreThreadTimeOut(true);
        }
        schedule(new Turn(new WeakReference<>(this), executor));
    }

    @SuppressWarnings("FutureReturnValueIgnored") // a turn reports its own errors
    private synchronized void schedule(Turn turn) {
        if (!stopped) {
            turn.executor.schedule(turn, intervalNanos, TimeUnit.NANOSECONDS);
        }
    }

    synchronized void stop() {
        stopped = true;
        if (executor != null) {
            executor.shutdownNow();
        }
    }

    private void sweep(Turn turn) {
        boolean keysLeft = true;
        try {
            keysLeft = keeper.sweep(clock.epochMicros());
        } catch (RuntimeException e) {
            // A codec of the user's failed: its key stays, and the next turn comes all the same.
            Operators.onErrorDropped(e, Context.empty());
        }
        if (keysLeft) {
            schedule(turn);
            return;
        }
        awake = false;
        // A key that was added in between saw the sweeper awake: look once more before going to sleep.
        if (keeper.count() > 0) {
            wake();
        }
    }

    private record Turn(WeakReference<Sweeper> sweeper, ScheduledThreadPoolExecutor executor) implements Runnable {
        @Override
        public void run() {
            Sweeper live = sweeper.get();
            if (live == null) {
                executor.shutdown();
            } else {
                live.sweep(this);
            }
        }
    }
}
