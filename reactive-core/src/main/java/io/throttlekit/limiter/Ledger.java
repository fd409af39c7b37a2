package io.throttlekit.limiter;

import io.throttlekit.Strategy;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What one node knows of one key whose units are leased: credits, waiters, and the request that is on its
 * way. A pure state machine: no threads, no clock, no Reactor; it is told what happened and when, and says
 * what follows.
 *
 * <p>The units of the second tier are counted in its own windows, so the bound on what all nodes admit
 * follows from what a node may hold when a window begins. Four rules keep that at {@link Rules#most()}:
 *
 * <ol>
 *   <li>A request asks for no more than makes {@code max(batch, waiting)}, and the waiters whose need it
 *       states belong to the window in which the second tier decided, whenever the reply comes. At least
 *       one unit goes to them, so at most {@code batch - 1} remain.
 *   <li>A background refill, which nobody waits for, starts only below {@code lowWater} credits, so at most
 *       {@code batch + lowWater - 1} come together.
 *   <li>What exceeds that, because waiters left, goes to those who came later while the lease's window
 *       certainly lasts, and then back. Once the window may be over it is given up first.
 *   <li>With {@code coupled}, credits end with the window that granted them. Credits and a grant of the same
 *       window add up for the waiters of the request even if the window is over when the reply comes.
 * </ol>
 *
 * <p>A window's end is counted on the monotonic clock from before the request was sent: that is never
 * later than the true end, however long the messages took and whatever the node's time of day.
 *
 * @param <W> who waits
 */
final class Ledger<W> {
    /** The configuration: {@code limit} is the strategy's. */
    record Rules(long limit, long batch, long lowWater, boolean coupled, int maxWaiters) {
        /** The most credits that stay when nobody waits. */
        long most() {
            return batch - 1 + lowWater;
        }
    }

    /** A range to ask the second tier for. */
    record Request(long min, long max) {}

    /** What becomes of waiters; told in their order. */
    interface Outcomes<W> {
        /**
         * A waiter got its units.
         *
         * @param left credits that remain
         * @param asked whether the units are of the window in which the reply was decided
         */
        void served(W waiter, long granted, long left, boolean asked);

        /** The second tier's denial is this waiter's. */
        void denied(W waiter);

        /** The second tier's failure is this waiter's. */
        void failed(W waiter);
    }

    private record Ask(long min, long max, long number) {}

    private final Rules rules;
    private final Map<W, Ask> waiters = new LinkedHashMap<>();
    private long lastNumber;

    private long credits;
    /** How many of the credits are of the last lease's window. */
    private long returnable;

    private boolean leased;
    private long resetAtMs;
    private long endsNanos;

    private boolean inFlight;
    /** The request in flight is a refill, which states nobody's need. */
    private boolean refilling;
    /** The least cost that the request in flight was to make possible. */
    private long askedFor;

    private long askedMax;
    private long askedUpTo;
    /** Credits taken since that request was sent, other than by those who are served with its reply. */
    private long spent;
    /** The last lease or refill was not granted in full: no refill until one was. */
    private boolean dry;
    /** The key was reset while a request is in flight: nothing of its reply is kept. */
    private boolean discard;

    private long surplus;

    Ledger(Rules rules) {
        this.rules = rules;
    }

    /** A copy, so that a checker can go on in several ways. */
    Ledger<W> copy() {
        Ledger<W> copy = new Ledger<>(rules);
        copy.waiters.putAll(waiters);
        copy.lastNumber = lastNumber;
        copy.credits = credits;
        copy.returnable = returnable;
        copy.leased = leased;
        copy.resetAtMs = resetAtMs;
        copy.endsNanos = endsNanos;
        copy.inFlight = inFlight;
        copy.refilling = refilling;
        copy.askedFor = askedFor;
        copy.askedMax = askedMax;
        copy.askedUpTo = askedUpTo;
        copy.spent = spent;
        copy.dry = dry;
        copy.discard = discard;
        copy.surplus = surplus;
        return copy;
    }

    /** Tells everything that decides what follows, and nothing else. */
    void describe(long nowNanos, LongConsumer to) {
        to.accept(credits);
        to.accept(Math.min(returnable, credits));
        to.accept(leased ? resetAtMs : -1);
        to.accept(leased ? Math.max(0, endsNanos - nowNanos) : 0);
        to.accept((dry ? 1 : 0) + (discard ? 2 : 0) + (inFlight ? 4 : 0) + (inFlight && refilling ? 8 : 0));
        to.accept(inFlight ? askedFor : 0);
        to.accept(inFlight ? askedMax : 0);
        to.accept(inFlight ? spent : 0);
        waiters.values().forEach(ask -> {
            to.accept(ask.min);
            to.accept(ask.max);
            to.accept(inFlight && ask.number <= askedUpTo ? 1 : 0);
        });
    }

    /** How much of a range can be had of some credits: as much as there is, or nothing. */
    static long grant(long credits, long min, long max) {
        return credits < min ? 0 : Math.min(credits, max);
    }

    /** Whether a lease that ends then has certainly not ended. */
    static boolean live(long endsNanos, long nowNanos) {
        return nowNanos - endsNanos < 0;
    }

    long credits() {
        return credits;
    }

    /** Takes over what the fast path left of the credits. */
    void credits(long left) {
        spent += credits - left;
        credits = left;
    }

    boolean inFlight() {
        return inFlight;
    }

    boolean waiting() {
        return !waiters.isEmpty();
    }

    @Nullable
    W first() {
        return waiters.isEmpty() ? null : waiters.keySet().iterator().next();
    }

    private boolean spendable(long now) {
        return !rules.coupled || (leased && live(endsNanos, now));
    }

    /** Drops credits whose window is over; not while a reply may yet belong to the same window. */
    private void expire(long now) {
        if (!spendable(now)) {
            credits = 0;
        }
    }

    /** Takes units if nobody waits; 0 when there are not enough. */
    long take(long min, long max, long now) {
        if (waiting() || !spendable(now)) {
            return 0;
        }
        long granted = grant(credits, min, max);
        credits -= granted;
        spent += granted;
        return granted;
    }

    /** Puts a waiter at the end of the line; false when the line is full. */
    boolean enqueue(W waiter, long min, long max) {
        if (waiters.size() >= rules.maxWaiters) {
            return false;
        }
        waiters.put(waiter, new Ask(min, max, ++lastNumber));
        return true;
    }

    /** The request that the waiters need; null when they need none, or one is on its way. */
    @Nullable
    Request lease(long now) {
        if (inFlight || waiters.isEmpty()) {
            return null;
        }
        expire(now);
        Ask head = waiters.values().iterator().next();
        // One decision of the second tier grants at most the limit: no need to add up further.
        long enough = Math.min(Strategy.MAX_COST, rules.limit + credits);
        long waiting = 0;
        for (Ask ask : waiters.values()) {
            waiting = Math.min(Strategy.MAX_COST, waiting + ask.max);
            if (waiting >= enough) {
                break;
            }
        }
        long min = head.min - credits;
        long max = Math.max(min, Math.max(rules.batch, waiting) - credits);
        send(head.min, max, lastNumber, false);
        return new Request(min, max);
    }

    /** The refill that few credits call for, after some were taken; null when there is no need. */
    @Nullable
    Request refill(long now) {
        if (inFlight || dry || discard || waiting() || !leased || credits >= rules.lowWater) {
            return null;
        }
        expire(now);
        send(1, rules.batch, 0, true);
        return new Request(1, rules.batch);
    }

    private void send(long cost, long max, long upTo, boolean refill) {
        inFlight = true;
        refilling = refill;
        askedFor = cost;
        askedMax = max;
        askedUpTo = upTo;
        spent = 0;
    }

    /**
     * The second tier granted units.
     *
     * @param window what tells windows apart: the reset of the decision
     * @param endsAt when the lease's window may be over, monotonic
     */
    void granted(long units, long window, long endsAt, long now, Outcomes<W> outcomes) {
        boolean same = leased && window == resetAtMs;
        if (rules.coupled && !same) {
            credits = 0;
        }
        returnable = (same ? Math.min(returnable, credits) : 0) + units;
        credits += units;
        leased = true;
        resetAtMs = window;
        endsNanos = endsAt;
        inFlight = false;
        dry = units < askedMax;
        serve(askedUpTo, true, outcomes);
        if (discard) {
            discard = false;
            credits = 0;
        }
        if (live(endsAt, now)) {
            serve(Long.MAX_VALUE, false, outcomes);
            surplus += skim(rules.most());
            return;
        }
        expire(now);
        // What was taken meanwhile may be of the window that began: both together stay within the bound.
        skim(Math.max(0, rules.most() - spent));
        serve(Long.MAX_VALUE, false, outcomes);
    }

    /** The second tier denied the request. */
    void denied(long now, Outcomes<W> outcomes) {
        inFlight = false;
        discard = false;
        dry = true;
        // The denial fits who needs exactly what was denied. Others ask for themselves.
        long cost = refilling ? (spendable(now) ? credits : 0) + 1 : askedFor;
        Iterator<Map.Entry<W, Ask>> all = waiters.entrySet().iterator();
        while (all.hasNext()) {
            Map.Entry<W, Ask> entry = all.next();
            if (entry.getValue().min == cost) {
                all.remove();
                outcomes.denied(entry.getKey());
            }
        }
        expire(now);
        serve(Long.MAX_VALUE, false, outcomes);
    }

    /** The second tier failed: who can be served from credits is, everybody else hears of it. */
    void failed(long now, Outcomes<W> outcomes) {
        inFlight = false;
        discard = false;
        dry = true;
        expire(now);
        Iterator<Map.Entry<W, Ask>> all = waiters.entrySet().iterator();
        while (all.hasNext()) {
            Map.Entry<W, Ask> entry = all.next();
            all.remove();
            long granted = grant(credits, entry.getValue().min, entry.getValue().max);
            credits -= granted;
            if (granted > 0) {
                outcomes.served(entry.getKey(), granted, credits, false);
            } else {
                outcomes.failed(entry.getKey());
            }
        }
    }

    /** A waiter left; false when it was not waiting any more. */
    boolean cancel(W waiter, long now, Outcomes<W> outcomes) {
        if (waiters.remove(waiter) == null) {
            return false;
        }
        if (spendable(now)) {
            serve(Long.MAX_VALUE, false, outcomes);
        }
        return true;
    }

    /** A waiter that was served had left: its units are credits again, if their window lasts. */
    void giveBack(long units, long window, long now, Outcomes<W> outcomes) {
        if (!leased || window != resetAtMs || !live(endsNanos, now) || discard) {
            return;
        }
        returnable = Math.min(returnable, credits) + units;
        credits += units;
        serve(Long.MAX_VALUE, false, outcomes);
        surplus += skim(rules.most());
    }

    /** Forgets all credits, also those that are on their way: the key is reset. */
    void discard() {
        credits = 0;
        discard = inFlight;
    }

    /** Gives up all credits, and tells how many of them may be refunded. */
    long empty(long now) {
        long units = leased && live(endsNanos, now) ? Math.min(returnable, credits) : 0;
        credits = 0;
        return units;
    }

    /** Units to be refunded since the last time this was asked. */
    long takeSurplus() {
        long units = surplus;
        surplus = 0;
        return units;
    }

    private void serve(long upTo, boolean asked, Outcomes<W> outcomes) {
        Iterator<Map.Entry<W, Ask>> all = waiters.entrySet().iterator();
        while (all.hasNext()) {
            Map.Entry<W, Ask> entry = all.next();
            Ask ask = entry.getValue();
            long granted = grant(credits, ask.min, ask.max);
            if (ask.number > upTo || granted == 0) {
                return;
            }
            credits -= granted;
            spent += asked ? 0 : granted;
            all.remove();
            outcomes.served(entry.getKey(), granted, credits, asked);
        }
    }

    /** Takes away what exceeds the most that may stay. */
    private long skim(long most) {
        long excess = Math.max(0, credits - most);
        credits -= excess;
        returnable = Math.max(0, returnable - excess);
        return excess;
    }
}
