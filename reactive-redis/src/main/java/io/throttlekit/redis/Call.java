package io.throttlekit.redis;

import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/**
 * One subscription, from its request to its one signal.
 *
 * <p>{@code IDLE → WAITING → SENT → ENDED}, back from {@code SENT} to {@code WAITING} when it is certain that
 * nothing was done, and to {@code CANCELLED} from anywhere. Whoever moves it to {@code ENDED} signals. All but
 * {@link #request} and {@link #cancel} happens on the lane's event loop.
 */
abstract class Call<R> implements Subscription {
    private static final int IDLE = 0;
    private static final int WAITING = 1;
    private static final int SENT = 2;
    private static final int ENDED = 3;
    private static final int CANCELLED = 4;

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Call.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final Core core;
    final Lane lane;
    final byte[] key;
    private final CoreSubscriber<? super R> actual;
    private volatile int state;

    /** {@code System.nanoTime()} of the request and of the end. Written before the lane sees the call. */
    long startedNanos;

    long deadlineNanos;

    /** Whether it counts among the calls in flight. */
    boolean held;

    Call(Core core, Lane lane, byte[] key, CoreSubscriber<? super R> actual) {
        this.core = core;
        this.lane = lane;
        this.key = key;
        this.actual = actual;
    }

    /** Computes what can be computed on the subscriber's thread. */
    void prepare() {}

    @Override
    public final void request(long n) {
        if (!Operators.validate(n) || !STATE.compareAndSet(this, IDLE, WAITING)) {
            return;
        }
        if (core.isClosed()) {
            signalError(Failures.closed(false));
            return;
        }
        if (!core.enter()) {
            signalError(new StoreUnavailableException(
                    Reason.OVERLOADED, false, "more than " + core.maxInFlight() + " calls are in flight", null));
            return;
        }
        try {
            prepare();
        } catch (RuntimeException e) {
            core.leave();
            signalError(e);
            return;
        }
        held = true;
        startedNanos = System.nanoTime();
        deadlineNanos = startedNanos + core.deadlineNanos();
        lane.submit(this);
    }

    @Override
    public final void cancel() {
        state = CANCELLED;
    }

    final boolean isOver() {
        return state >= ENDED;
    }

    final boolean isSent() {
        return state == SENT;
    }

    /** Before it is written; false when nobody waits for it any more. */
    final boolean send() {
        return STATE.compareAndSet(this, WAITING, SENT);
    }

    /** After it is certain that nothing was done; false when nobody waits for it any more. */
    final boolean unsend() {
        return STATE.compareAndSet(this, SENT, WAITING);
    }

    private boolean end() {
        while (true) {
            int before = state;
            if (before >= ENDED) {
                return false;
            }
            if (STATE.compareAndSet(this, before, ENDED)) {
                return true;
            }
        }
    }

    final void signal(@Nullable R value) {
        if (!end()) {
            return;
        }
        try {
            if (value != null) {
                actual.onNext(value);
            }
            if (state != CANCELLED) {
                actual.onComplete();
            }
        } catch (Throwable e) {
            drop(e);
        }
    }

    final void signalError(Throwable error) {
        if (!end()) {
            return;
        }
        try {
            actual.onError(error);
        } catch (Throwable e) {
            drop(e);
        }
    }

    /** A subscriber must not throw; one that does must not take down the lane, which serves others, too. */
    private void drop(Throwable e) {
        Operators.onErrorDropped(e, actual.currentContext());
    }
}
