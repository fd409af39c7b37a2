package io.throttlekit.limiter;

import io.throttlekit.Strategy;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How units are leased: how many at once, and what becomes of them when they are not used.
 *
 * <pre>{@code
 * LeaseOptions.batch(50).windowCoupled().returnIdleAfter(Duration.ofSeconds(5))
 * }</pre>
 *
 * <p>Immutable: each method returns other options.
 */
public final class LeaseOptions {
    private static final Duration DEADLINE = Duration.ofMillis(250);
    private static final int MAX_WAITERS = 10_000;

    private final long batch;
    private final long lowWater;
    private final boolean windowCoupled;
    private final @Nullable Duration returnIdleAfter;
    private final Duration deadline;
    private final int maxWaiters;

    private LeaseOptions(
            long batch,
            long lowWater,
            boolean windowCoupled,
            @Nullable Duration returnIdleAfter,
            Duration deadline,
            int maxWaiters) {
        this.batch = batch;
        this.lowWater = lowWater;
        this.windowCoupled = windowCoupled;
        this.returnIdleAfter = returnIdleAfter;
        this.deadline = deadline;
        this.maxWaiters = maxWaiters;
    }

    /**
     * Leases this many units at once; fewer when the second tier has fewer. A batch above the limit leases
     * all there is.
     *
     * @param batch 1 to 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @return the options
     * @throws IllegalArgumentException if it is out of range
     */
    public static LeaseOptions batch(long batch) {
        if (batch < 1 || batch > Strategy.MAX_COST) {
            throw new IllegalArgumentException("batch must be from 1 to " + Strategy.MAX_COST + ", was " + batch);
        }
        return new LeaseOptions(batch, 0, false, null, DEADLINE, MAX_WAITERS);
    }

    /**
     * Leases the next batch in the background when fewer than this many credits are left; 0, the default,
     * leases only when a request needs it.
     *
     * <p>The price: up to {@code lowWater} more credits per node may be carried into a window. A background
     * lease that fails, or is not granted in full, is not repeated before a request had to lease.
     *
     * @param credits 0 to {@code batch}
     * @return the options
     * @throws IllegalArgumentException if it is out of range
     */
    public LeaseOptions lowWater(long credits) {
        if (credits < 0 || credits > batch) {
            throw new IllegalArgumentException("lowWater must be from 0 to the batch of " + batch + ", was " + credits);
        }
        return new LeaseOptions(batch, credits, windowCoupled, returnIdleAfter, deadline, maxWaiters);
    }

    /**
     * Lets credits end with the window that granted them, so that all nodes together admit exactly the limit
     * in every window. Only for strategies whose windows have boundaries: {@code fixedWindow}, and
     * {@code quota} other than rolling.
     *
     * @return the options
     */
    public LeaseOptions windowCoupled() {
        return new LeaseOptions(batch, lowWater, true, returnIdleAfter, deadline, maxWaiters);
    }

    /**
     * Gives credits back that were not used for this long, if the window that granted them still lasts; else
     * forgets them. Off by default.
     *
     * @param idle at least 1 ms
     * @return the options
     * @throws IllegalArgumentException if it is shorter
     */
    public LeaseOptions returnIdleAfter(Duration idle) {
        return new LeaseOptions(
                batch, lowWater, windowCoupled, atLeastOneMs("returnIdleAfter", idle), deadline, maxWaiters);
    }

    /**
     * How long a request may wait for leases in all, however many it takes; 250 ms by default. Past it the
     * request fails with reason {@code TIMEOUT}; also, {@code close()} takes no longer than this.
     *
     * @param deadline at least 1 ms
     * @return the options
     * @throws IllegalArgumentException if it is shorter
     */
    public LeaseOptions deadline(Duration deadline) {
        return new LeaseOptions(
                batch, lowWater, windowCoupled, returnIdleAfter, atLeastOneMs("deadline", deadline), maxWaiters);
    }

    /**
     * How many requests may wait for one key's lease; 10,000 by default. Further ones fail at once with
     * reason {@code OVERLOADED}.
     *
     * @param maxWaiters at least 1
     * @return the options
     * @throws IllegalArgumentException if it is less
     */
    public LeaseOptions maxWaiters(int maxWaiters) {
        if (maxWaiters < 1) {
            throw new IllegalArgumentException("maxWaiters must be at least 1, was " + maxWaiters);
        }
        return new LeaseOptions(batch, lowWater, windowCoupled, returnIdleAfter, deadline, maxWaiters);
    }

    private static Duration atLeastOneMs(String name, Duration value) {
        if (value.compareTo(Duration.ofMillis(1)) < 0 || value.compareTo(Duration.ofDays(365)) > 0) {
            throw new IllegalArgumentException(name + " must be from 1 ms to 365 days, was " + value);
        }
        return value;
    }

    boolean isWindowCoupled() {
        return windowCoupled;
    }

    @Nullable
    Duration returnIdleAfter() {
        return returnIdleAfter;
    }

    Duration deadline() {
        return deadline;
    }

    Ledger.Rules rules(long limit) {
        return new Ledger.Rules(limit, batch, lowWater, windowCoupled, maxWaiters);
    }
}
