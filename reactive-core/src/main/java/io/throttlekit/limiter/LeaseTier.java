package io.throttlekit.limiter;

import io.throttlekit.Clock;
import io.throttlekit.Decision;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.limiter.LeaseEntry.Flight;
import io.throttlekit.limiter.LeaseEntry.Return;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Schedulers;

/** Leases units of the second tier, and serves checks from them. */
final class LeaseTier<S> implements Tier, LeaseEntry.Lessor {
    /** Refunds at a time, of those that come together. */
    private static final int RETURNS = 64;
    /** Calls in flight past which units are given up rather than given back. */
    private static final int MAX_CALLS = 4_096;

    private static final long MIN_SWEEP_NANOS = 1_000_000;

    private final Origin<S> origin;
    private final Ledger.Rules rules;
    private final Clock clock;
    private final Duration deadline;
    private final long deadlineNanos;
    private final long idleNanos;
    private final boolean refunds;
    private final KeyTable<LeaseEntry> entries;
    private final Calls calls = new Calls();
    private final AtomicBoolean sweeping = new AtomicBoolean();
    private final Mono<Void> closing = Mono.defer(this::end).cache();

    /** Without {@code returnIdleAfter} in the options, nothing is done about idle credits before they must go. */
    LeaseTier(Origin<S> origin, LeaseOptions options, Clock clock, int maxKeys) {
        this.origin = origin;
        this.rules = options.rules(origin.strategy().limit());
        this.clock = clock;
        this.deadline = options.deadline();
        this.deadlineNanos = deadline.toNanos();
        Duration idle = options.returnIdleAfter();
        this.idleNanos = idle == null ? 0 : idle.toNanos();
        this.refunds = origin.refunds();
        this.entries = new KeyTable<>(maxKeys);
    }

    @Override
    public Mono<Decision> check(String key, long min, long max) {
        // What can never be had is told by the second tier, which it does not change; nobody waits behind it.
        return min > rules.limit() ? origin.check(key, min, max) : LeaseMono.of(this, key, min, max);
    }

    /** Finds an outcome for a waiter, now or later. */
    void start(String key, LeaseWaiter waiter) {
        while (true) {
            LeaseEntry entry = entries.get(key);
            if (entry == null) {
                try {
                    entry = entries.getOrAdd(key, absent -> new LeaseEntry(absent, rules, this));
                } catch (StoreUnavailableException closed) {
                    waiter.fail(closed);
                    return;
                }
                wake();
            }
            if (entry == null) {
                waiter.passOn(origin.check(key, waiter.min(), waiter.max()));
                return;
            }
            Decision decision = entry.hit(waiter.min(), waiter.max(), clock.monotonicNanos());
            if (decision != null) {
                waiter.answer(decision);
                return;
            }
            if (entry.admit(waiter)) {
                return;
            }
            // The entry has ended, and is about to leave the table.
            entries.remove(entry);
        }
    }

    @Override
    public Mono<Decision> peek(String key) {
        return Mono.defer(() -> {
            LeaseEntry entry = entries.get(key);
            Decision decision = entry == null ? null : entry.look(clock.monotonicNanos());
            return decision == null ? origin.peek(key) : Mono.just(decision);
        });
    }

    @Override
    public void forget(String key) {
        LeaseEntry entry = entries.get(key);
        if (entry != null) {
            entry.forget();
        }
    }

    @Override
    public void refunded(String key) {
        // The second tier has the units; a lease will find them.
    }

    @Override
    public long monotonicNanos() {
        return clock.monotonicNanos();
    }

    @Override
    public long schedulerNanos() {
        return Schedulers.parallel().now(TimeUnit.NANOSECONDS);
    }

    @Override
    public long deadlineNanos() {
        return deadlineNanos;
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // a tick that finds nothing to do does nothing
    public void schedule(LeaseEntry entry, long delayNanos) {
        Schedulers.parallel().schedule(entry::tick, delayNanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void send(Flight flight) {
        calls.began(flight);
        Mono<Decision> lease =
                Mono.defer(() -> origin.check(flight.entry.key, flight.request.min(), flight.request.max()));
        lease.subscribe(flight);
    }

    @Override
    public void landed(Flight flight) {
        calls.ended(flight);
    }

    @Override
    public void refund(Return idle) {
        if (calls.size() < MAX_CALLS) {
            giveBack(List.of(idle));
        }
    }

    private void giveBack(List<Return> idle) {
        Giving giving = new Giving();
        calls.began(giving);
        refundAll(idle).subscribe(giving);
    }

    /** Gives back what it can. Units whose refund fails stay charged, which errs on the side of the limit. */
    private Mono<Void> refundAll(List<Return> idle) {
        if (!refunds) {
            return Mono.empty();
        }
        return Flux.fromIterable(idle)
                .flatMap(
                        units -> origin.refund(units.key(), units.units(), units.charged())
                                .onErrorResume(unavailable -> Mono.empty()),
                        RETURNS)
                .then();
    }

    private final class Giving extends BaseSubscriber<Void> {
        @Override
        protected void hookFinally(SignalType type) {
            calls.ended(this);
        }
    }

    private void wake() {
        if (idleNanos > 0 && !sweeping.get() && sweeping.compareAndSet(false, true)) {
            sweepIn(idleNanos);
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // a sweep of a closed limiter finds nothing
    private void sweepIn(long delayNanos) {
        Schedulers.parallel().schedule(this::sweep, delayNanos, TimeUnit.NANOSECONDS);
    }

    /** Ends the entries that are idle; the task comes back only while there are others. */
    private void sweep() {
        long now = clock.monotonicNanos();
        long next = idleNanos;
        List<Return> idle = new ArrayList<>();
        for (LeaseEntry entry : entries.all()) {
            long unused = now - entry.value();
            if (unused < idleNanos) {
                next = Math.min(next, idleNanos - unused);
            } else if (entry.retire()) {
                entries.remove(entry);
                Return units = entry.left();
                if (units != null) {
                    idle.add(units);
                }
            }
        }
        if (!idle.isEmpty()) {
            giveBack(idle);
        }
        if (entries.size() > 0) {
            sweepIn(Math.max(next, Math.max(MIN_SWEEP_NANOS, idleNanos / 8)));
            return;
        }
        sweeping.set(false);
        // A key that was added in between saw the sweep on its way.
        if (entries.size() > 0) {
            wake();
        }
    }

    @Override
    public Mono<Void> close() {
        return closing;
    }

    private Mono<Void> end() {
        List<Return> idle = new ArrayList<>();
        for (LeaseEntry entry : entries.close()) {
            Return units = entry.close();
            if (units != null) {
                idle.add(units);
            }
        }
        return refundAll(idle).then(Mono.defer(calls::over)).timeout(deadline, Mono.fromRunnable(calls::cancelAll));
    }
}
