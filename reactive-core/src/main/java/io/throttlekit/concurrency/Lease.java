package io.throttlekit.concurrency;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A place among the requests in flight, to be given back once, from any thread, by one of four methods. The
 * first of them counts, further calls do nothing. On a lease that is not {@link #ok} they never do anything.
 */
public final class Lease {
    private static final VarHandle GUARD;

    static {
        try {
            GUARD = MethodHandles.lookup().findVarHandle(Lease.class, "guard", ConcurrencyGuard.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final boolean ok;
    private final long admission;
    private final long startNanos;

    /** Null from the release on. */
    @SuppressWarnings("unused") // through GUARD
    private volatile @Nullable ConcurrencyGuard guard;

    private Lease(boolean ok, @Nullable ConcurrencyGuard guard, long admission, long startNanos) {
        this.ok = ok;
        this.guard = guard;
        this.admission = admission;
        this.startNanos = startNanos;
    }

    static Lease refused() {
        return new Lease(false, null, 0, 0);
    }

    /** A lease from {@code startNanos} on; {@code admission} is the guard's word after it was admitted. */
    static Lease admitted(ConcurrencyGuard guard, long admission, long startNanos) {
        return new Lease(true, guard, admission, startNanos);
    }

    /**
     * Whether there was a place.
     *
     * @return true if the request may go on, also after the lease was given back
     */
    public boolean ok() {
        return ok;
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
        ConcurrencyGuard holder = guard;
        if (holder != null && holder.isDrop(error)) {
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
        return guard == null ? null : (ConcurrencyGuard) GUARD.getAndSet(this, null);
    }
}
