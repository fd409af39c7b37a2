package io.throttlekit.shaping;

import io.throttlekit.ExactMicros;
import io.throttlekit.QueueFullException;
import io.throttlekit.SyncStore;
import io.throttlekit.Transform;
import io.throttlekit.shaping.Held.Arrival;
import io.throttlekit.shaping.Held.Due;
import io.throttlekit.shaping.Held.Lane;
import io.throttlekit.strategy.Departure;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Scannable;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.util.concurrent.Queues;
import reactor.util.context.Context;

/**
 * One subscription of the pacing operator.
 *
 * @param <T> the elements
 */
final class Pacer<T> implements CoreSubscriber<T>, Subscription, Scannable {
    /*
     * Whoever raises `wip` from 0 owns everything that is not volatile, and goes on until it is 0 again; all others
     * leave what they bring in a queue or a volatile field and raise it too. So signals are serial, and nothing
     * waits for a lock.
     *
     *   source ─► inbox ─► reserve ─► due (by departure) ─► downstream
     *                        │  └ not yet: its lane's waiting
     *                        └ a remote store's answers come back through `answers`
     *
     * `inside` counts the elements between the source and downstream, asked for ones included. It never exceeds the
     * demand, so that whatever is due can leave at once, nor `ahead`, which bounds all queues together.
     *
     * A lane exists while something of its key is held here. Elements of one key are reserved one after the other,
     * and none leaves before the one ahead of it, even if the line was reset in between.
     *
     * Departures are kept as instants of the scheduler's nanoseconds: the answer's delay added to a reading that
     * was taken after the store's. So none is early, and none is later because another was.
     */

    /** How many elements may share one reading of the clock. */
    private static final int SAME_TIME = 16;

    @SuppressWarnings("rawtypes")
    private static final AtomicIntegerFieldUpdater<Pacer> WIP =
            AtomicIntegerFieldUpdater.newUpdater(Pacer.class, "wip");

    @SuppressWarnings("rawtypes")
    private static final AtomicLongFieldUpdater<Pacer> REQUESTED =
            AtomicLongFieldUpdater.newUpdater(Pacer.class, "requested");

    private final StoreShaper shaper;
    private final @Nullable SyncStore sync;
    private final Function<? super T, String> storeKey;
    private final Function<? super T, Transform<ExactMicros, Departure>> reserving;
    private final Pacing<? super T> pacing;
    private final CoreSubscriber<? super T> actual;
    private final Context context;
    private final Scheduler scheduler;
    private final Queue<T> inbox;
    private final Queue<Answer> answers;

    @SuppressWarnings("NullAway.Init") // set by onSubscribe, before anything else can come
    private Subscription upstream;

    private volatile int wip;
    private volatile long requested;
    private volatile boolean cancelled;
    private volatile boolean misused;
    private volatile boolean done;
    /** Written before done. */
    private @Nullable Throwable error;

    // From here on: the owner's.
    private final Held<T> held = new Held<>();
    private long inside;
    private long emitted;
    /** What went wrong here; the source is cancelled then, and only departures are left. */
    private @Nullable Throwable failure;

    private boolean ended;
    private Scheduler.@Nullable Worker worker;
    private @Nullable Tick tick;
    private long nowMicros;
    private long nowNanos;
    private long seenNanos;
    private boolean nanosKnown;
    private int sameTime;

    Pacer(
            StoreShaper shaper,
            Function<? super T, String> storeKey,
            Function<? super T, Transform<ExactMicros, Departure>> reserving,
            Pacing<? super T> pacing,
            CoreSubscriber<? super T> actual) {
        this.shaper = shaper;
        this.sync = shaper.sync();
        this.storeKey = storeKey;
        this.reserving = reserving;
        this.pacing = pacing;
        this.actual = actual;
        this.context = actual.currentContext();
        this.scheduler = shaper.timer();
        this.inbox = Queues.<T>get(pacing.ahead()).get();
        this.answers = sync == null
                ? Queues.<Answer>unboundedMultiproducer().get()
                : Queues.<Answer>empty().get();
    }

    @Override
    public Context currentContext() {
        return context;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        if (Operators.validate(upstream, subscription)) {
            upstream = subscription;
            actual.onSubscribe(this);
        }
    }

    @Override
    public void onNext(T element) {
        if (done) {
            Operators.onNextDropped(element, context);
            return;
        }
        if (wip == 0 && WIP.compareAndSet(this, 0, 1)) {
            sameTime = 0;
            arrive(element);
            replenish();
            if (failure != null || !held.nothingDue() || !WIP.compareAndSet(this, 1, 0)) {
                run();
            }
        } else if (inbox.offer(element)) {
            drain();
        } else {
            upstream.cancel();
            onError(Operators.onOperatorError(
                    null, new IllegalStateException("the source sent more than it was asked for"), element, context));
        }
    }

    @Override
    public void onError(Throwable error) {
        if (done) {
            Operators.onErrorDropped(error, context);
            return;
        }
        this.error = error;
        done = true;
        drain();
    }

    @Override
    public void onComplete() {
        done = true;
        drain();
    }

    @Override
    public void request(long n) {
        if (n > 0) {
            Operators.addCap(REQUESTED, this, n);
        } else {
            misused = true;
        }
        drain();
    }

    @Override
    public void cancel() {
        if (!cancelled) {
            cancelled = true;
            upstream.cancel();
            drain();
        }
    }

    /** A timer of this subscription's; the newest counts. */
    private final class Tick implements Runnable {
        final long atNanos;
        volatile boolean gone;

        @SuppressWarnings("NullAway.Init") // set by the owner as soon as it is known
        Disposable task;

        Tick(long atNanos) {
            this.atNanos = atNanos;
        }

        @Override
        public void run() {
            gone = true;
            drain();
        }
    }

    /** Waits for a store that does not answer within the call. */
    private final class Answer implements CoreSubscriber<Departure> {
        final Lane<T> lane;
        final Arrival<T> arrival;

        @Nullable
        Departure departure;

        @Nullable
        Throwable error;

        long nanos;
        private boolean answered;

        Answer(Lane<T> lane, Arrival<T> arrival) {
            this.lane = lane;
            this.arrival = arrival;
        }

        @Override
        public Context currentContext() {
            return context;
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(Departure departure) {
            this.departure = departure;
            answer();
        }

        @Override
        public void onError(Throwable error) {
            this.error = error;
            answer();
        }

        @Override
        public void onComplete() {
            if (!answered) {
                onError(new IllegalStateException("the store completed without an answer"));
            }
        }

        private void answer() {
            answered = true;
            nanos = scheduler.now(TimeUnit.NANOSECONDS);
            answers.offer(this);
            if (WIP.getAndIncrement(Pacer.this) != 0) {
                return;
            }
            // We own everything, but on the store's thread, which is not to run what comes downstream.
            if (cancelled || ended) {
                run();
                return;
            }
            try {
                worker().schedule(Pacer.this::run);
            } catch (RejectedExecutionException e) {
                rejected(e);
                run();
            }
        }
    }

    private void drain() {
        if (WIP.getAndIncrement(this) == 0) {
            run();
        }
    }

    private void run() {
        int missed = 1;
        do {
            if (cancelled || ended) {
                clear();
            } else if (misused) {
                upstream.cancel();
                end(new IllegalArgumentException("§3.9: the requested number must be more than 0"));
            } else {
                turn();
            }
            missed = WIP.addAndGet(this, -missed);
        } while (missed != 0);
    }

    private void turn() {
        boolean last = done;
        if (tick != null && tick.gone) {
            tick = null;
        }
        for (Answer answer = answers.poll(); answer != null; answer = answers.poll()) {
            accept(answer);
        }
        sameTime = 0;
        for (T element = inbox.poll(); element != null; element = inbox.poll()) {
            arrive(element);
        }
        letGo();
        if (cancelled || ended) {
            clear();
        } else if (failure != null) {
            if (held.nothingDue()) {
                end(failure);
                if (error != null && last) {
                    Operators.onErrorDropped(error, context);
                }
            }
        } else if (last && inbox.isEmpty() && held.isEmpty()) {
            end(error);
        } else {
            replenish();
        }
    }

    private void arrive(T element) {
        if (cancelled || ended || failure != null) {
            Operators.onDiscard(element, context);
            return;
        }
        String key;
        Arrival<T> arrival;
        try {
            key = storeKey.apply(element);
            arrival = new Arrival<>(element, reserving.apply(element));
        } catch (Throwable e) {
            fail(Operators.onOperatorError(null, e, element, context));
            return;
        }
        Lane<T> lane = held.find(key);
        if (lane != null && lane.busy) {
            lane.waiting.add(arrival);
        } else {
            reserve(key, lane, arrival);
        }
    }

    private void reserve(String key, @Nullable Lane<T> known, Arrival<T> arrival) {
        if (sync == null) {
            Lane<T> lane = held.lane(key, known);
            lane.busy = true;
            shaper.store().apply(key, arrival.reserving()).subscribe(new Answer(lane, arrival));
            return;
        }
        if (--sameTime < 0) {
            sameTime = SAME_TIME - 1;
            nowMicros = sync.nowMicros();
            nanosKnown = false;
        }
        Departure departure;
        try {
            departure = sync.applySync(key, arrival.reserving(), nowMicros);
        } catch (Throwable e) {
            fail(Operators.onOperatorError(null, e, arrival.element(), context));
            return;
        }
        boolean free = departure.accepted() && (known == null || !known.hasDepartures());
        if (free && departure.waitMicros() == 0) {
            emit(arrival.element());
            return;
        }
        if (!nanosKnown) {
            nanosKnown = true;
            nowMicros = sync.nowMicros();
            nowNanos = scheduler.now(TimeUnit.NANOSECONDS);
            seenNanos = nowNanos;
        }
        // The departure is that of a reading before these two, if elements left in between.
        long atNanos = nowNanos + departure.waitNanos() + Timers.nanos(departure.decidedAtMicros() - nowMicros);
        if (free && isPast(atNanos)) {
            emit(arrival.element());
        } else {
            settle(held.lane(key, known), arrival, departure, atNanos);
        }
    }

    /** At rates of many per microsecond one reading of the clock does for many elements. */
    private boolean isPast(long atNanos) {
        if (atNanos - seenNanos > 0) {
            seenNanos = scheduler.now(TimeUnit.NANOSECONDS);
        }
        return atNanos - seenNanos <= 0;
    }

    private void accept(Answer answer) {
        Lane<T> lane = answer.lane;
        Departure departure = answer.departure;
        if (failure != null) {
            discard(answer);
            return;
        }
        lane.busy = false;
        if (departure == null) {
            Throwable e = Objects.requireNonNull(answer.error, "error");
            fail(Operators.onOperatorError(null, e, answer.arrival.element(), context));
            return;
        }
        if (departure.accepted() && departure.waitMicros() == 0 && !lane.hasDepartures()) {
            emit(answer.arrival.element());
        } else {
            settle(lane, answer.arrival, departure, answer.nanos + departure.waitNanos());
        }
        advance(lane);
    }

    /** Files an element that cannot leave at once, by what the store said to it. */
    private void settle(Lane<T> lane, Arrival<T> arrival, Departure departure, long atNanos) {
        Consumer<? super T> dropped = pacing.dropped();
        if (departure.accepted()) {
            held.depart(lane, atNanos, arrival.element(), departure);
        } else if (pacing.waits()) {
            held.retry(lane, atNanos, arrival);
        } else if (dropped != null) {
            drop(arrival.element(), dropped);
            held.forgetIfIdle(lane);
        } else {
            Operators.onDiscard(arrival.element(), context);
            fail(new QueueFullException(Duration.of(departure.waitMicros(), ChronoUnit.MICROS)));
        }
    }

    private void drop(T element, Consumer<? super T> dropped) {
        inside--;
        try {
            dropped.accept(element);
        } catch (Throwable e) {
            fail(Operators.onOperatorError(null, e, element, context));
        }
        Operators.onDiscard(element, context);
    }

    /** Reserves for those of a lane that had to wait for another's answer. */
    private void advance(Lane<T> lane) {
        while (!lane.busy && failure == null && !cancelled) {
            Arrival<T> arrival = lane.waiting.poll();
            if (arrival == null) {
                break;
            }
            reserve(lane.key, lane, arrival);
        }
        held.forgetIfIdle(lane);
    }

    /** Lets everything go that is due, and sets the timer for what comes next. */
    private void letGo() {
        Due<T> next = held.first();
        while (next != null && !cancelled && !ended) {
            long now = scheduler.now(TimeUnit.NANOSECONDS);
            if (next.atNanos() - now > 0) {
                arm(next.atNanos(), next.atNanos() - now);
                return;
            }
            while (next != null && next.atNanos() - now <= 0 && !cancelled) {
                held.removeFirst();
                if (next.element() == null) {
                    sameTime = 0;
                    advance(next.lane());
                } else {
                    held.forgetIfIdle(next.lane());
                    emit(next.element());
                }
                next = held.first();
            }
        }
    }

    private void emit(T element) {
        emitted++;
        inside--;
        actual.onNext(element);
    }

    private void replenish() {
        if (done || failure != null) {
            return;
        }
        long demand = requested;
        long most = demand == Long.MAX_VALUE ? pacing.ahead() : Math.min(pacing.ahead(), demand - emitted);
        long more = most - inside;
        // A quarter at a time, as asking costs something too.
        if (more > 0 && more >= most / 4) {
            inside += more;
            upstream.request(more);
        }
    }

    private Scheduler.Worker worker() {
        Scheduler.Worker known = worker;
        if (known == null) {
            known = scheduler.createWorker();
            worker = known;
        }
        return known;
    }

    private void arm(long atNanos, long waitNanos) {
        Tick known = tick;
        if (known != null) {
            if (known.atNanos == atNanos) {
                return;
            }
            known.task.dispose();
        }
        Tick next = new Tick(atNanos);
        tick = next;
        try {
            next.task = worker().schedule(next, Timers.bounded(waitNanos), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            rejected(e);
        }
    }

    private void rejected(RejectedExecutionException e) {
        upstream.cancel();
        end(Operators.onRejectedExecution(e, context));
    }

    /** Takes no more elements. Those that have a departure still leave, then the error comes. */
    private void fail(Throwable e) {
        if (failure != null || ended) {
            Operators.onErrorDropped(e, context);
            return;
        }
        failure = e;
        upstream.cancel();
        held.discardWaiting(context);
    }

    private void end(@Nullable Throwable e) {
        if (ended || cancelled) {
            return;
        }
        ended = true;
        clear();
        if (e == null) {
            actual.onComplete();
        } else {
            actual.onError(e);
        }
    }

    /** After the end: stops the timer and gives everything back. May be called again for what comes late. */
    private void clear() {
        if (worker != null) {
            worker.dispose();
        }
        for (T element = inbox.poll(); element != null; element = inbox.poll()) {
            Operators.onDiscard(element, context);
        }
        held.discardAll(context).forEach((key, places) -> shaper.giveBack(key, places, context));
        for (Answer answer = answers.poll(); answer != null; answer = answers.poll()) {
            discard(answer);
        }
    }

    /** An answer that came too late: its place is another's, and so are those before it. */
    private void discard(Answer answer) {
        List<Departure> places = new ArrayList<>();
        if (answer.departure != null && answer.departure.accepted()) {
            places.add(answer.departure);
        }
        places.addAll(answer.lane.freed);
        shaper.giveBack(answer.lane.key, places, context);
        Operators.onDiscard(answer.arrival.element(), context);
    }

    @Override
    @SuppressWarnings("rawtypes") // as it is declared
    public @Nullable Object scanUnsafe(Attr key) {
        if (key == Attr.PARENT) {
            return upstream;
        }
        if (key == Attr.ACTUAL) {
            return actual;
        }
        if (key == Attr.REQUESTED_FROM_DOWNSTREAM) {
            return requested;
        }
        if (key == Attr.PREFETCH) {
            return pacing.ahead();
        }
        if (key == Attr.CANCELLED) {
            return cancelled;
        }
        if (key == Attr.RUN_STYLE) {
            return Attr.RunStyle.ASYNC;
        }
        return null;
    }
}
