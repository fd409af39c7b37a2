package io.throttlekit.concurrency;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A place among the requests in flight, to be given back once, from any thread, by one of four methods. The
 * first of them counts, further calls do nothing. On a lease that is not {@link #ok} they never do anything.
 */
public final class Lease {
    private static final VarHandle ENDED;

    static {
        try {
            ENDED = MethodHandles.lookup().findVarHandle(Lease.class, "ended", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Null if there was no place. */
    private final @Nullable ConcurrencyGuard guard;

    private final long admission;
    private final long startNanos;

    /** Only through {@link #ENDED}. It is not volatile, and starts as what is there anyway: no write, no fence. */
    @SuppressWarnings("unused")
    private boolean ended;

    private Lease(@Nullable ConcurrencyGuard guard, long admission, long startNanos) {
        this.guard = guard;
        this.admission = admission;
        this.startNanos = startNanos;
    }

    static Lease refused() {
        return new Lease(null, 0, 0);
    }

    /** A lease from {@code startNanos} on; {@code admission} is the guard's word after it was admitted. */
    static Lease admitted(ConcurrencyGuard guard, long admission, long startNanos) {
        return new Lease(guard, admission, startNanos);
    }

    /**
     * Whether there was a place.
     *
     * @return true if the request may go on, also after the lease was given back
     */
    public boolean ok() {
        return guard != null;
    }

    /** Gives the place back after success. The time it was held is a sample for the law. */
    public void release() {
        ConcurrencyGuard holder = end();
        if (holder != null) {
            holder.succeeded(admission, startNanos);
        }
    }

    /** Gives the place back after a timeout or a rejection by the server: the law lowers the limit. */
    public void releaseDropped() {
        ConcurrencyGuard holder = end();
        if (holder != null) {
            holder.dropped(startNanos);
        }
    }

    /**
     * Gives the place back after an error: as {@link #releaseDropped} if it is a drop by the guard's options,
     * otherwise as {@link #cancel}. An error that comes fast says nothing about how long requests take.
     *
     * @param error the error
     */
    public void releaseFailed(Throwable error) {
        if (guard != null && !(boolean) ENDED.getOpaque(this) && guard.isDrop(error)) {
            releaseDropped();
        } else {
            cancel();
        }
    }

    /** Gives the place back and says nothing to the law. */
    public void cancel() {
        ConcurrencyGuard holder = end();
        if (holder != null) {
            holder.left();
        }
    }

    private @Nullable ConcurrencyGuard end() {
        return guard != null && ENDED.compareAndSet(this, false, true) ? guard : null;
    }
}
