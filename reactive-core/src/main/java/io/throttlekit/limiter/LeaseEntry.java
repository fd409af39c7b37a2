package io.throttlekit.limiter;

import io.throttlekit.Decision;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Operators;
import reactor.core.publisher.SignalType;
import reactor.util.context.Context;

/**
 * What is kept for one key whose units are leased: a {@link Ledger}, made safe for threads.
 *
 * <p>While nobody waits, the ledger's credits are in a {@link Bank}, and a check takes from it by one
 * compare-and-set. Everything else happens with the entry's monitor held, for as long as a few fields need:
 * it closes the bank for good, puts what was left into the ledger, tells it what happened, and opens a new
 * bank. So no credit can be taken by the terms of one lease out of another.
 *
 * <p>What follows for the world outside (subscribers, requests, refunds) is put in a list and done without
 * the monitor, by one thread at a time, in order. Whoever comes meanwhile only adds to the list: there is no
 * recursion, however many wait and whatever they do when they are served.
 */
final class LeaseEntry extends KeyTable.Item {
    /** What the entry needs of the world. Nothing of this is called with the monitor held, except the clocks. */
    interface Lessor {
        /** The clock that leases are timed by. */
        long monotonicNanos();

        /** The clock of {@link #schedule}. */
        long schedulerNanos();

        /** Sends a flight's request. */
        void send(Flight flight);

        /** A flight has come to its end, whichever. */
        void landed(Flight flight);

        /** Gives units back. */
        void refund(Return idle);

        /** Calls {@link LeaseEntry#tick} after a time. */
        void schedule(LeaseEntry entry, long delayNanos);

        /** How long a request may wait, and how long a flight may take. */
        long deadlineNanos();
    }

    /** Units to give back, and the decision that took them. */
    record Return(String key, long units, Decision charged) {}

    private static final long MAX_LIFE_MS = (1L << 61) / 1_000_000;

    private final Ledger.Rules rules;
    private final Lessor lessor;
    private final Ledger<LeaseWaiter> ledger;
    private final AtomicInteger working = new AtomicInteger();
    private volatile @Nullable Bank bank;
    private volatile long usedNanos;

    // Guarded by this.
    private List<Runnable> todo = new ArrayList<>();
    private @Nullable Decision lease;
    private long leasedNanos;
    private long endsNanos;
    private @Nullable Flight flight;
    private @Nullable Return left;
    private boolean timed;
    private boolean dead;

    LeaseEntry(String key, Ledger.Rules rules, Lessor lessor) {
        super(key);
        this.rules = rules;
        this.lessor = lessor;
        this.ledger = new Ledger<>(rules);
        this.usedNanos = lessor.monotonicNanos();
    }

    /** Credits on the terms of one lease, until it is closed. */
    private static final class Bank {
        private static final long CLOSED = Long.MIN_VALUE;

        private static final VarHandle CREDITS;

        static {
            try {
                CREDITS = MethodHandles.lookup().findVarHandle(Bank.class, "credits", long.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        final long limit;
        final long resetAtMicros;
        final long decidedAtMicros;
        final long leasedNanos;
        final long endsNanos;
        private volatile long credits;
        /** When units were last taken; several threads may write it, and any of their values will do. */
        long usedNanos;

        Bank(Decision lease, long limit, long leasedNanos, long endsNanos, long credits, long usedNanos) {
            this.limit = limit;
            this.resetAtMicros = lease.resetAtMs() * 1_000;
            this.decidedAtMicros = lease.decidedAtMs() * 1_000;
            this.leasedNanos = leasedNanos;
            this.endsNanos = endsNanos;
            this.credits = credits;
            this.usedNanos = usedNanos;
        }

        long credits() {
            return credits;
        }

        /** Returns {@code before} when it was replaced, else what stands there instead. */
        long replace(long before, long after) {
            return (long) CREDITS.compareAndExchange(this, before, after);
        }

        long close() {
            return (long) CREDITS.getAndSet(this, CLOSED);
        }

        Decision allowed(long granted, long remaining, long now) {
            return Decision.allowedAt(
                    granted, limit, remaining, resetAtMicros, storeMicros(decidedAtMicros, now - leasedNanos));
        }
    }

    /** The store's time when so much has passed since a decision of its arrived: never ahead of it. */
    private static long storeMicros(long decidedAtMicros, long elapsedNanos) {
        // Whole milliseconds, so that rounding up leads out of no window.
        return decidedAtMicros + Math.max(0, elapsedNanos) / 1_000_000 * 1_000;
    }

    /** Takes local credits; null when there are not enough, or somebody waits. */
    @Nullable
    Decision hit(long min, long max, long now) {
        Bank open = bank;
        if (open == null || (rules.coupled() && !Ledger.live(open.endsNanos, now))) {
            return null;
        }
        long before = open.credits();
        while (true) {
            long granted = Ledger.grant(before, min, max);
            if (granted == 0) {
                return null;
            }
            long after = before - granted;
            long witness = open.replace(before, after);
            if (witness == before) {
                open.usedNanos = now;
                if (after < rules.lowWater()) {
                    refill();
                }
                return open.allowed(granted, after, now);
            }
            before = witness;
        }
    }

    /** What a check of one unit would get of the local credits; null when nothing. */
    @Nullable
    Decision look(long now) {
        Bank open = bank;
        if (open == null || (rules.coupled() && !Ledger.live(open.endsNanos, now))) {
            return null;
        }
        long credits = open.credits();
        return credits < 1 ? null : open.allowed(0, credits, now);
    }

    /** Serves a waiter or puts it in the line; false when the entry has ended and another is to be asked. */
    boolean admit(LeaseWaiter waiter) {
        waiter.waitsFor(() -> cancelled(waiter));
        synchronized (this) {
            if (dead) {
                return false;
            }
            if (waiter.cancelled()) {
                return true;
            }
            long now = begin();
            long granted = ledger.take(waiter.min(), waiter.max(), now);
            if (granted > 0) {
                new Settling(now, null, null).served(waiter, granted, ledger.credits(), false);
                send(ledger.refill(now));
            } else if (ledger.enqueue(waiter, waiter.min(), waiter.max())) {
                waiter.deadline = lessor.schedulerNanos() + lessor.deadlineNanos();
            } else {
                todo.add(() -> waiter.fail(overloaded()));
            }
            end(now);
        }
        drain();
        return true;
    }

    private StoreUnavailableException overloaded() {
        return new StoreUnavailableException(
                Reason.OVERLOADED,
                false,
                "more than " + rules.maxWaiters() + " requests wait for one key's lease",
                null);
    }

    private void refill() {
        synchronized (this) {
            if (dead || flight != null) {
                return;
            }
            long now = begin();
            send(ledger.refill(now));
            end(now);
        }
        drain();
    }

    private void cancelled(LeaseWaiter waiter) {
        synchronized (this) {
            long now = begin();
            ledger.cancel(waiter, now, new Settling(now, null, null));
            end(now);
        }
        drain();
    }

    private void deliver(LeaseWaiter waiter, Decision decision) {
        if (waiter.complete(decision)) {
            return;
        }
        synchronized (this) {
            long now = begin();
            ledger.giveBack(decision.granted(), decision.resetAtMs(), now, new Settling(now, null, null));
            end(now);
        }
        drain();
    }

    /** The second tier's answer. */
    void reply(Flight from, Decision decision) {
        synchronized (this) {
            if (flight != from) {
                return;
            }
            flight = null;
            long now = begin();
            if (decision.allowed()) {
                lease = decision;
                leasedNanos = now;
                endsNanos = from.sentNanos
                        + Math.max(0, Math.min(MAX_LIFE_MS, decision.resetAtMs() - decision.decidedAtMs())) * 1_000_000;
                Settling settling = new Settling(now, null, null);
                ledger.granted(decision.granted(), decision.resetAtMs(), endsNanos, now, settling);
            } else {
                ledger.denied(now, new Settling(now, decision, null));
            }
            end(now);
        }
        drain();
    }

    /** The second tier's failure. */
    void failure(Flight from, Throwable error) {
        synchronized (this) {
            if (flight != from) {
                return;
            }
            flight = null;
            long now = begin();
            ledger.failed(now, new Settling(now, null, error));
            end(now);
        }
        drain();
    }

    /** Ends what has taken too long. */
    void tick() {
        synchronized (this) {
            timed = false;
            long now = begin();
            long time = lessor.schedulerNanos();
            Settling settling = new Settling(now, null, null);
            for (LeaseWaiter first = ledger.first(); first != null && first.deadline - time <= 0; ) {
                LeaseWaiter late = first;
                ledger.cancel(late, now, settling);
                todo.add(() -> late.fail(timeout()));
                first = ledger.first();
            }
            Flight slow = flight;
            if (slow != null && slow.deadline - time <= 0) {
                flight = null;
                todo.add(slow::dispose);
                ledger.failed(now, new Settling(now, null, timeout()));
            }
            end(now);
        }
        drain();
    }

    private static StoreUnavailableException timeout() {
        return new StoreUnavailableException(Reason.TIMEOUT, true, "no lease came within the deadline", null);
    }

    /** Forgets the credits, also those that are on their way. */
    synchronized void forget() {
        long now = begin();
        ledger.discard();
        end(now);
    }

    @Override
    long value() {
        Bank open = bank;
        return open == null ? usedNanos : open.usedNanos;
    }

    @Override
    synchronized boolean retire() {
        if (dead || flight != null || ledger.waiting()) {
            return false;
        }
        long now = begin();
        dead = true;
        left = giveUp(now);
        return true;
    }

    @Override
    void ended() {
        Return idle = left();
        if (idle != null) {
            lessor.refund(idle);
        }
    }

    /** What there was to give back when the entry retired, once. */
    synchronized @Nullable Return left() {
        Return units = left;
        left = null;
        return units;
    }

    private @Nullable Return giveUp(long now) {
        long units = ledger.empty(now);
        return units > 0 && lease != null ? new Return(key, units, lease) : null;
    }

    /** Ends the entry; whoever waits hears that the limiter is closed, and what a flight brings goes back. */
    @Nullable
    Return close() {
        Return idle;
        synchronized (this) {
            long now = begin();
            dead = true;
            for (LeaseWaiter first = ledger.first(); first != null; first = ledger.first()) {
                LeaseWaiter waiter = first;
                ledger.cancel(waiter, now, new Settling(now, null, null));
                todo.add(() -> waiter.fail(KeyTable.closed()));
            }
            idle = giveUp(now);
        }
        drain();
        return idle;
    }

    /** Closes the bank: what was left is the ledger's again. */
    private long begin() {
        Bank open = bank;
        if (open != null) {
            bank = null;
            usedNanos = open.usedNanos;
            ledger.credits(open.close());
        }
        return lessor.monotonicNanos();
    }

    /** Does what follows from the ledger's state, and opens a bank if nobody waits. */
    private void end(long now) {
        send(ledger.lease(now));
        Decision terms = lease;
        if (terms == null) {
            return;
        }
        long surplus = ledger.takeSurplus() + (dead ? ledger.empty(now) : 0);
        Return excess = surplus > 0 ? new Return(key, surplus, terms) : null;
        if (excess != null) {
            todo.add(() -> lessor.refund(excess));
        }
        if (!dead && !ledger.waiting()) {
            bank = new Bank(terms, rules.limit(), leasedNanos, endsNanos, ledger.credits(), usedNanos);
        }
    }

    private void send(Ledger.@Nullable Request request) {
        if (request != null) {
            Flight next = new Flight(this, request, lessor.schedulerNanos() + lessor.deadlineNanos());
            flight = next;
            todo.add(next::start);
        }
    }

    private void drain() {
        if (working.getAndIncrement() != 0) {
            return;
        }
        int seen = 1;
        do {
            takeTodo().forEach(LeaseEntry::run);
            seen = working.addAndGet(-seen);
        } while (seen != 0);
        arm();
    }

    private synchronized List<Runnable> takeTodo() {
        List<Runnable> taken = todo;
        todo = new ArrayList<>();
        return taken;
    }

    /** A subscriber that throws must not keep the others from their answers. */
    private static void run(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException | Error e) {
            Operators.onErrorDropped(e, Context.empty());
        }
    }

    /** Sees to it that a tick comes when the first waiter, or the flight, has waited long enough. */
    private void arm() {
        long delay;
        synchronized (this) {
            Flight slow = flight;
            if (timed || slow == null) {
                return;
            }
            LeaseWaiter first = ledger.first();
            delay = slow.deadline - lessor.schedulerNanos();
            if (first != null) {
                delay = Math.min(delay, first.deadline - lessor.schedulerNanos());
            }
            timed = true;
        }
        lessor.schedule(this, Math.max(0, delay));
    }

    /** Turns what the ledger says of waiters into things to do. */
    private final class Settling implements Ledger.Outcomes<LeaseWaiter> {
        private final long now;
        private final @Nullable Decision denial;
        private final @Nullable Throwable error;

        Settling(long now, @Nullable Decision denial, @Nullable Throwable error) {
            this.now = now;
            this.denial = denial;
            this.error = error;
        }

        @Override
        public void served(LeaseWaiter waiter, long granted, long remaining, boolean asked) {
            Decision terms = Objects.requireNonNull(lease, "lease");
            usedNanos = now;
            long elapsed = asked ? 0 : now - leasedNanos;
            Decision decision = Decision.allowedAt(
                    granted,
                    rules.limit(),
                    remaining,
                    terms.resetAtMs() * 1_000,
                    storeMicros(terms.decidedAtMs() * 1_000, elapsed));
            todo.add(() -> deliver(waiter, decision));
        }

        @Override
        public void denied(LeaseWaiter waiter) {
            Decision answer = Objects.requireNonNull(denial, "denial");
            todo.add(() -> waiter.complete(answer));
        }

        @Override
        public void failed(LeaseWaiter waiter) {
            Throwable answer = Objects.requireNonNull(error, "error");
            todo.add(() -> waiter.fail(answer));
        }
    }

    /** A request to the second tier that is on its way. It outlives those who wait for it. */
    static final class Flight extends BaseSubscriber<Decision> {
        final LeaseEntry entry;
        final Ledger.Request request;
        private final long deadline;
        private long sentNanos;
        private boolean answered;

        Flight(LeaseEntry entry, Ledger.Request request, long deadline) {
            this.entry = entry;
            this.request = request;
            this.deadline = deadline;
        }

        private void start() {
            sentNanos = entry.lessor.monotonicNanos();
            entry.lessor.send(this);
        }

        @Override
        protected void hookOnNext(Decision decision) {
            answered = true;
            entry.reply(this, decision);
        }

        @Override
        protected void hookOnError(Throwable error) {
            entry.failure(this, error);
        }

        @Override
        protected void hookOnComplete() {
            if (!answered) {
                entry.failure(this, new IllegalStateException("the store answered nothing"));
            }
        }

        @Override
        protected void hookFinally(SignalType type) {
            entry.lessor.landed(this);
        }
    }
}
