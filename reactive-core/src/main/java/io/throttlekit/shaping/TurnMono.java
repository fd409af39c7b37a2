package io.throttlekit.shaping;

import io.throttlekit.ExactMicros;
import io.throttlekit.QueueFullException;
import io.throttlekit.SyncStore;
import io.throttlekit.Transform;
import io.throttlekit.strategy.Departure;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.util.context.Context;

/**
 * Completes at a departure.
 *
 * <p>An operator of its own because of what cancelling must do: a reservation that is under way when it comes is
 * let through, so that its place can be given back as soon as it is known.
 */
final class TurnMono extends Mono<Void> {
    private final StoreShaper shaper;
    private final String storeKey;
    private final Transform<ExactMicros, Departure> reserving;

    private TurnMono(StoreShaper shaper, String storeKey, Transform<ExactMicros, Departure> reserving) {
        this.shaper = shaper;
        this.storeKey = storeKey;
        this.reserving = reserving;
    }

    static Mono<Void> of(StoreShaper shaper, String storeKey, Transform<ExactMicros, Departure> reserving) {
        return onAssembly(new TurnMono(shaper, storeKey, reserving));
    }

    @Override
    public void subscribe(CoreSubscriber<? super Void> actual) {
        Turn turn = new Turn(shaper, storeKey, actual);
        actual.onSubscribe(turn);
        turn.start(reserving);
    }

    /** Is, as a number, one of the four states below. */
    private static final class Turn extends AtomicInteger implements CoreSubscriber<Departure>, Subscription {
        private static final long serialVersionUID = 1L;

        private static final int RESERVING = 0;
        private static final int WAITING = 1;
        private static final int DONE = 2;
        private static final int CANCELLED = 3;

        private final transient StoreShaper shaper;
        private final String storeKey;
        private final transient CoreSubscriber<? super Void> actual;
        private final transient Scheduler scheduler;
        private final transient Disposable.Swap timer = Disposables.swap();
        private final transient Thread caller = Thread.currentThread();
        private boolean inTheCall = true;
        private boolean answered;
        private transient @Nullable Departure place;
        private long atNanos;

        Turn(StoreShaper shaper, String storeKey, CoreSubscriber<? super Void> actual) {
            this.shaper = shaper;
            this.storeKey = storeKey;
            this.actual = actual;
            this.scheduler = shaper.timer();
        }

        void start(Transform<ExactMicros, Departure> reserving) {
            if (get() == CANCELLED) {
                return;
            }
            SyncStore sync = shaper.sync();
            if (sync == null) {
                shaper.store().apply(storeKey, reserving).subscribe(this);
                inTheCall = false;
                return;
            }
            Departure departure;
            try {
                departure = sync.applySync(storeKey, reserving, sync.nowMicros());
            } catch (Throwable e) {
                end(Operators.onOperatorError(e, actual.currentContext()));
                return;
            }
            onNext(departure);
        }

        @Override
        public Context currentContext() {
            return actual.currentContext();
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(Departure departure) {
            answered = true;
            if (!departure.accepted()) {
                end(new QueueFullException(Duration.of(departure.waitMicros(), ChronoUnit.MICROS)));
            } else if (departure.waitMicros() == 0) {
                end(null);
            } else {
                await(departure);
            }
        }

        @Override
        public void onError(Throwable error) {
            end(error);
        }

        @Override
        public void onComplete() {
            if (!answered) {
                end(new IllegalStateException("the store completed without an answer"));
            }
        }

        /** Here when it is known within the call of subscribe; else not on the store's thread. */
        private void end(@Nullable Throwable error) {
            // The thread is compared first: on another one, inTheCall may not be read.
            if (Thread.currentThread() == caller && inTheCall) {
                signal(RESERVING, error);
                return;
            }
            try {
                timer.update(scheduler.schedule(() -> signal(RESERVING, error)));
            } catch (RejectedExecutionException e) {
                signal(RESERVING, Operators.onRejectedExecution(e, actual.currentContext()));
            }
        }

        private void signal(int from, @Nullable Throwable error) {
            if (!compareAndSet(from, DONE)) {
                if (error != null) {
                    Operators.onErrorDropped(error, actual.currentContext());
                }
            } else if (error == null) {
                actual.onComplete();
            } else {
                actual.onError(error);
            }
        }

        private void await(Departure departure) {
            atNanos = scheduler.now(TimeUnit.NANOSECONDS) + departure.waitNanos();
            place = departure;
            if (compareAndSet(RESERVING, WAITING)) {
                wake(departure.waitNanos());
            } else {
                giveBack();
            }
        }

        private void arm() {
            if (get() != WAITING) {
                return;
            }
            long left = atNanos - scheduler.now(TimeUnit.NANOSECONDS);
            if (left <= 0) {
                signal(WAITING, null);
            } else {
                wake(left);
            }
        }

        private void wake(long nanos) {
            try {
                timer.replace(scheduler.schedule(this::arm, Timers.bounded(nanos), TimeUnit.NANOSECONDS));
            } catch (RejectedExecutionException e) {
                giveBack();
                signal(WAITING, Operators.onRejectedExecution(e, actual.currentContext()));
            }
        }

        private void giveBack() {
            Departure departure = place;
            if (departure != null) {
                shaper.giveBack(storeKey, List.of(departure), actual.currentContext());
            }
        }

        @Override
        public void request(long n) {
            Operators.validate(n);
        }

        @Override
        public void cancel() {
            int before = getAndUpdate(state -> state == DONE ? DONE : CANCELLED);
            timer.dispose();
            if (before == WAITING) {
                giveBack();
            }
        }
    }
}
