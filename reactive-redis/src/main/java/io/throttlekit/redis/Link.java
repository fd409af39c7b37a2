package io.throttlekit.redis;

import io.netty.util.concurrent.ScheduledFuture;
import io.throttlekit.redis.Connector.Attempt;
import io.vertx.core.Future;
import io.vertx.core.internal.ContextInternal;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Keeps one connection open. On its event loop alone.
 *
 * <p>After a failure it tries again, after a wait that doubles up to a second, with jitter. Whoever wants to use it
 * makes it try at once, but for a few milliseconds between two attempts. An attempt that does not come to an
 * end is given up.
 *
 * <p>An eager link tries without being wanted, too. Where its connection leads to a cluster and has lost a node, it
 * still serves the others: it is kept until another one is open.
 */
final class Link {
    private static final Logger LOG = System.getLogger(Link.class.getName());
    private static final long FIRST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long LONGEST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long WANTED_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long LEAST_PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** Who uses the connection. */
    interface User {
        /** There is a connection. */
        void opened();

        /**
         * There is none.
         *
         * @param startedNanos when the attempt began that failed
         * @return whether somebody still waits for one
         */
        boolean failed(long startedNanos, Throwable cause);
    }

    private final ContextInternal context;
    private final Connector connector;
    private final User user;
    /** Whether it tries again by itself, or only when it is wanted. */
    private final boolean eager;
    /** How long an attempt may take: as long as a call may wait for it, at least. */
    private final long patienceNanos;

    private @Nullable Wire wire;
    /** The wire is to be replaced although it is still of use. */
    private boolean stale;

    private @Nullable Attempt attempt;
    private @Nullable ScheduledFuture<?> timer;
    private long failedNanos;
    private int failures;
    private boolean lost;
    private boolean closed;

    Link(ContextInternal context, Connector connector, User user, boolean eager, long deadlineNanos) {
        this.context = context;
        this.connector = connector;
        this.user = user;
        this.eager = eager;
        this.patienceNanos = Math.max(LEAST_PATIENCE_NANOS, deadlineNanos);
    }

    @Nullable
    Wire wire() {
        return wire;
    }

    /** Somebody waits for a connection. */
    void want() {
        if (closed || attempt != null || (wire != null && !stale)) {
            return;
        }
        long wait = failures == 0 ? 0 : failedNanos + jitter(WANTED_WAIT_NANOS) - System.nanoTime();
        if (wait <= 0) {
            cancelTimer();
            connect();
        } else if (timer == null || timer.getDelay(TimeUnit.NANOSECONDS) > wait) {
            cancelTimer();
            schedule(wait);
        }
    }

    /** A wire is of no more use, or in a cluster not of full use. */
    void broken(Wire broken, String why) {
        lose(broken, why, false);
    }

    /** A wire leads to the wrong server, which still answers what it was sent. */
    void misled(Wire misled, String why) {
        lose(misled, why, true);
    }

    private void lose(Wire broken, String why, boolean answers) {
        if (closed || wire != broken) {
            return;
        }
        if (!lost) {
            lost = true;
            LOG.log(Level.WARNING, "lost a connection to Redis: {0}", why);
        }
        if (eager && connector.isCluster()) {
            stale = true;
        } else {
            wire = null;
            if (answers) {
                retire(broken);
            } else {
                broken.end();
            }
        }
        again();
    }

    private void again() {
        if (eager && timer == null && attempt == null) {
            long wait = Math.min(LONGEST_WAIT_NANOS, FIRST_WAIT_NANOS << Math.min(failures, 10));
            schedule(jitter(wait));
        }
    }

    private static long jitter(long nanos) {
        return nanos / 2 + ThreadLocalRandom.current().nextLong(nanos / 2 + 1);
    }

    private void schedule(long nanos) {
        timer = context.nettyEventLoop()
                .schedule(
                        () -> context.emit(v -> {
                            timer = null;
                            connect();
                        }),
                        nanos,
                        TimeUnit.NANOSECONDS);
    }

    private void cancelTimer() {
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
    }

    void connect() {
        if (closed || attempt != null) {
            return;
        }
        long startedNanos = System.nanoTime();
        Attempt started;
        try {
            started = connector.open();
        } catch (RuntimeException e) {
            failed(startedNanos, e);
            return;
        }
        attempt = started;
        ScheduledFuture<?> patience = context.nettyEventLoop()
                .schedule(
                        () -> context.emit(v -> hopeless(started, startedNanos)), patienceNanos, TimeUnit.NANOSECONDS);
        started.wire()
                .onComplete((opened, failure) -> context.emit(v -> {
                    patience.cancel(false);
                    if (attempt != started) {
                        if (opened != null) {
                            opened.end();
                        }
                        return;
                    }
                    attempt = null;
                    if (opened == null) {
                        failed(startedNanos, failure);
                    } else {
                        opened(opened);
                    }
                }));
    }

    private void hopeless(Attempt started, long startedNanos) {
        if (attempt == started) {
            attempt = null;
            started.abandon();
            failed(startedNanos, new IllegalStateException("Redis did not complete the handshake"));
        }
    }

    private void failed(long startedNanos, Throwable cause) {
        failures++;
        failedNanos = System.nanoTime();
        if (!lost) {
            lost = true;
            LOG.log(Level.WARNING, "cannot connect to Redis: {0}", Failures.describe(cause));
        }
        boolean wanted = user.failed(startedNanos, cause);
        if (wanted) {
            want();
        } else {
            again();
        }
    }

    private void opened(Wire opened) {
        failures = 0;
        if (lost) {
            lost = false;
            LOG.log(Level.INFO, "connected to Redis again");
        }
        Wire before = wire;
        wire = opened;
        stale = false;
        if (before != null) {
            retire(before);
        }
        opened.connection
                .exceptionHandler(e -> context.emit(v -> broken(opened, Failures.describe(e))))
                .endHandler(end -> context.emit(v -> broken(opened, "it was closed")));
        user.opened();
    }

    private void retire(Wire old) {
        old.retire();
        context.setTimer(TimeUnit.NANOSECONDS.toMillis(patienceNanos), id -> old.end());
    }

    /** Ends the connection and all attempts. */
    Future<Void> close() {
        closed = true;
        cancelTimer();
        if (attempt != null) {
            attempt.abandon();
            attempt = null;
        }
        Wire last = wire;
        wire = null;
        return last == null ? Future.succeededFuture() : last.end();
    }
}
