package io.throttlekit.limiter;

import io.throttlekit.Decision;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/** One subscription to a check. It starts when it is requested, and hears of its outcome once. */
final class LeaseWaiter implements Subscription {
    private static final int NEW = 0;
    private static final int STARTED = 1;
    private static final int DONE = 2;
    private static final int CANCELLED = 3;

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(LeaseWaiter.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final LeaseMono source;
    private final CoreSubscriber<? super Decision> actual;
    private volatile int state;
    /** What a cancel has to reach; set before the state is looked at again. */
    private volatile @Nullable Disposable pending;

    /** When the subscriber has waited long enough, in the scheduler's nanoseconds; guarded by the entry. */
    long deadline;

    LeaseWaiter(LeaseMono source, CoreSubscriber<? super Decision> actual) {
        this.source = source;
        this.actual = actual;
    }

    long min() {
        return source.min;
    }

    long max() {
        return source.max;
    }

    boolean cancelled() {
        return state == CANCELLED;
    }

    @Override
    public void request(long n) {
        if (Operators.validate(n) && STATE.compareAndSet(this, NEW, STARTED)) {
            source.tier.start(source.key, this);
        }
    }

    @Override
    public void cancel() {
        int before = (int) STATE.getAndSet(this, CANCELLED);
        Disposable reach = pending;
        if (before == STARTED && reach != null) {
            reach.dispose();
        }
    }

    /** To be called before waiting for anything: a cancel disposes of it. */
    void waitsFor(Disposable what) {
        pending = what;
    }

    /** Hands over a decision made on this very thread during the request. */
    void answer(Decision decision) {
        actual.onNext(decision);
        if (state != CANCELLED) {
            actual.onComplete();
        }
    }

    /** Hands over a decision; false if the subscriber has left. */
    boolean complete(Decision decision) {
        if (!STATE.compareAndSet(this, STARTED, DONE)) {
            return false;
        }
        answer(decision);
        return true;
    }

    /** Hands over an error, unless the subscriber has left. */
    void fail(Throwable error) {
        if (STATE.compareAndSet(this, STARTED, DONE)) {
            actual.onError(error);
        }
    }

    /** Asks somebody else for the answer. */
    void passOn(Mono<Decision> other) {
        Direct direct = new Direct();
        waitsFor(direct);
        if (cancelled()) {
            direct.dispose();
        }
        other.subscribe(direct);
    }

    private final class Direct extends BaseSubscriber<Decision> {
        @Override
        public Context currentContext() {
            return actual.currentContext();
        }

        @Override
        protected void hookOnNext(Decision decision) {
            complete(decision);
        }

        @Override
        protected void hookOnError(Throwable error) {
            fail(error);
        }
    }
}
