package io.throttlekit.limiter;

import io.throttlekit.Clock;
import io.throttlekit.Decision;
import io.throttlekit.Store;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.Strategy;
import io.throttlekit.SyncStore;
import io.throttlekit.SynchronousAccessException;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Quota;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Limiters that answer from this process what they can, over a store that all nodes share.
 *
 * <pre>{@code
 * Limiter limiter = TwoTier.leased(strategy, store, LeaseOptions.batch(50).windowCoupled()).build();
 * }</pre>
 *
 * <table>
 * <caption>What each mode costs and promises, for N nodes</caption>
 * <tr><th>mode</th><th>round trips</th><th>admitted in a window by all nodes together</th></tr>
 * <tr><td>{@link #strict strict}</td><td>1 per request</td><td>the limit</td></tr>
 * <tr><td>{@link #cachedDeny cached deny}</td><td>1 per allowed request</td><td>the limit</td></tr>
 * <tr><td>{@link #leased leased}</td><td>about 1 per batch</td>
 *     <td>at most {@code limit + N * (batch - 1 + lowWater)}; with {@code windowCoupled} the limit</td></tr>
 * </table>
 *
 * <p>A {@code Mono} from these limiters is cold and charges once per subscription, when it is requested. What
 * is known here is emitted on the subscriber's thread. What the store has to be asked for is emitted on the
 * store's thread, and a timeout on {@code Schedulers.parallel()}.
 *
 * <p>{@code forecast} and {@code refund} go to the store, and so see leased units as spent. {@code peek}
 * answers from this process where a check would. {@code reset} also forgets what this process keeps; other
 * nodes keep what they leased, or their denials, until those end. Calls that end in {@code Sync} fail with
 * {@link SynchronousAccessException}, in every mode and over every store.
 *
 * <p>{@code close} does not close the store. It completes within the deadline of the options; checks
 * afterwards fail with {@link StoreUnavailableException}, reason {@code CLOSED}.
 */
public final class TwoTier {
    private TwoTier() {}

    /**
     * Asks the store for every check: exact.
     *
     * @param strategy what to decide
     * @param store the second tier
     * @return the options
     */
    public static Builder strict(Strategy<?> strategy, Store store) {
        return new Builder(Mode.STRICT, strategy, store, null);
    }

    /**
     * Asks the store for every check that it may allow: exact in what it allows.
     *
     * <p>A denial is kept for its {@link Decision#retryAfter()}, counted from before the request was sent. It
     * answers, with the time that is left, requests that cost at least as much. A node does not learn that
     * another one refunded or reset the key before that time is over.
     *
     * @param strategy what to decide
     * @param store the second tier
     * @return the options
     */
    public static Builder cachedDeny(Strategy<?> strategy, Store store) {
        return new Builder(Mode.CACHED_DENY, strategy, store, null);
    }

    /**
     * Takes units from the store in batches and serves checks from them.
     *
     * <p>A check that finds enough credits here is allowed at once, also while the store cannot be reached.
     * It reports the credits that are left, the {@code resetAt} of their lease, and now on the store's clock
     * as far as this process knows it. Otherwise it waits for a lease. Checks of one key share one request at
     * a time and are served in their order; one that comes while others wait, waits behind them. The check
     * that caused a lease belongs to the window in which the store decided, whenever the reply comes. A
     * range ({@code checkUpTo}) takes what there is here if that is enough, even if the store has more.
     *
     * <p>When the store has nothing, its denial is the answer. When it fails, every check that waited fails
     * with the same error, once, except those that local credits suffice for. A check that was cancelled is
     * not charged if it still waited; the lease goes on for the others, and what nobody wants is kept up to
     * {@code batch - 1} credits and given back beyond.
     *
     * <p>A lease lasts as long as the store's decision says, {@code resetAt - decidedAt}, counted on the
     * monotonic clock from before the request was sent; so clocks that differ between nodes, and slow
     * replies, cannot widen the bound. Credits go back by refund, and only in that time: when they are idle
     * ({@link LeaseOptions#returnIdleAfter}), when their key makes room for others ({@link Builder#maxKeys}),
     * and on {@code close}. Later, or where the strategy cannot refund, they are given up.
     *
     * @param strategy what to decide
     * @param store the second tier
     * @param options how to lease
     * @return the options
     * @throws IllegalArgumentException if the strategy's windows have no boundaries and the options are
     *     window-coupled, or if it cannot refund and they return idle credits
     */
    public static Builder leased(Strategy<?> strategy, Store store, LeaseOptions options) {
        if (options.isWindowCoupled() && !(strategy instanceof FixedWindow) && !(strategy instanceof Quota)) {
            throw new IllegalArgumentException("windowCoupled needs windows with boundaries, as fixedWindow and quota"
                    + " have (not a rolling one): " + strategy.name()
                    + " gives units out continuously, so there is no instant at which leased credits end");
        }
        return new Builder(Mode.LEASED, strategy, store, options);
    }

    private enum Mode {
        STRICT,
        CACHED_DENY,
        LEASED
    }

    /** The options that all modes have. */
    public static final class Builder {
        private final Mode mode;
        private final Strategy<?> strategy;
        private final Store store;
        private final @Nullable LeaseOptions lease;
        private Clock clock = Clock.system();
        private String prefix = "";
        private int maxKeys = 100_000;

        private Builder(Mode mode, Strategy<?> strategy, Store store, @Nullable LeaseOptions lease) {
            this.mode = mode;
            this.strategy = Objects.requireNonNull(strategy, "strategy");
            this.store = Objects.requireNonNull(store, "store");
            this.lease = lease;
        }

        /**
         * What leases and denials are timed by; the system's clock by default. Only its monotonic reading is
         * used, never its time of day. Over a {@link SyncStore} with a clock of its own, give it that one.
         *
         * @param clock the clock
         * @return this
         */
        public Builder clock(Clock clock) {
            this.clock = Objects.requireNonNull(clock, "clock");
            return this;
        }

        /**
         * Keeps this limiter's keys apart from those of other limiters over the same store, as
         * {@code prefix:key}. Without a prefix the store sees the bare key.
         *
         * @param prefix {@code [A-Za-z0-9_.-]+}
         * @return this
         * @throws IllegalArgumentException if it does not match
         */
        public Builder prefix(String prefix) {
            this.prefix = Keys.prefix(prefix);
            return this;
        }

        /**
         * How many keys' credits or denials are kept in this process; 100,000 by default. To make room, a few
         * keys are drawn at random and the one that was idle the longest goes, or whose denial ends first: its
         * credits are given back if their window lasts, else given up. While all that were drawn wait for
         * leases, a further key is checked as in strict mode. Of no meaning to strict mode, which keeps none.
         *
         * @param maxKeys at least 1
         * @return this
         * @throws IllegalArgumentException if it is less
         */
        public Builder maxKeys(int maxKeys) {
            if (maxKeys < 1) {
                throw new IllegalArgumentException("maxKeys must be at least 1, was " + maxKeys);
            }
            this.maxKeys = maxKeys;
            return this;
        }

        /**
         * The limiter. It starts nothing before its first check.
         *
         * @return a new limiter
         * @throws IllegalArgumentException if idle credits are to be returned and the strategy cannot refund
         */
        public Limiter build() {
            return build(new Origin<>(strategy, store, prefix));
        }

        private <S> Limiter build(Origin<S> origin) {
            return new TierLimiter<>(origin, tier(origin));
        }

        private Tier tier(Origin<?> origin) {
            if (mode == Mode.STRICT) {
                return new StrictTier(origin);
            }
            if (mode == Mode.CACHED_DENY) {
                return new DenialTier(origin, clock, maxKeys);
            }
            LeaseOptions options = Objects.requireNonNull(lease, "options");
            if (options.returnIdleAfter() != null && !origin.refunds()) {
                throw new IllegalArgumentException(
                        "returnIdleAfter needs a strategy that can refund, and " + strategy.name() + " cannot");
            }
            return new LeaseTier<>(origin, options, clock, maxKeys);
        }
    }
}
