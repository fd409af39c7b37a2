package io.throttlekit;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A rate limiting algorithm with its configuration: it makes transforms and keeps nothing.
 *
 * @param <S> the state of one key, an immutable value
 */
public interface Strategy<S> {
    /** The largest cost: 2<sup>53</sup>&nbsp;&minus;&nbsp;1. */
    long MAX_COST = (1L << 53) - 1;

    /**
     * The algorithm's name, such as {@code gcra}.
     *
     * @return {@code [A-Za-z][A-Za-z0-9]*}
     */
    String name();

    /**
     * The most units that one request can ever get.
     *
     * @return at least 1
     */
    long limit();

    /**
     * The time over which the limit is given out.
     *
     * @return null when it is not constant, as for a calendar month
     */
    @Nullable
    Duration window();

    /**
     * Takes the largest number of units from {@code min} to {@code max} that can be had now, or none.
     *
     * @param min at least 1
     * @param max at least {@code min}, at most {@link #MAX_COST}
     * @return a transform that changes nothing when it denies
     */
    Transform<S, Decision> check(long min, long max);

    /**
     * Looks: {@code remaining} and {@code resetAt} as in a denial, the answer as for cost 1, nothing taken.
     *
     * @return a transform that changes nothing
     */
    Transform<S, Decision> peek();

    /**
     * Tells what can be spent, now and later.
     *
     * @param cost the cost of one request, 1 to {@link #MAX_COST}
     * @return a transform that changes nothing
     * @throws UnsupportedOperationException if the strategy cannot tell
     */
    Transform<S, Forecast> forecast(long cost);

    /**
     * Gives units back.
     *
     * @param cost how many, 1 to {@link #MAX_COST}
     * @param charged the decision that took them, or null; a windowed strategy gives nothing back when that
     *     decision's window is over
     * @return a transform that answers whether anything was given back
     * @throws UnsupportedOperationException if the strategy cannot give back
     */
    Transform<S, Boolean> refund(long cost, @Nullable Decision charged);

    /**
     * Makes a strategy of one function and a codec; it runs on every store.
     *
     * @param name its name
     * @param limit the most units that one request can ever get, at least 1
     * @param codec how its state is kept
     * @param rule the function
     * @param <S> the state
     * @return a strategy whose peek is a discarded check of cost 1, and which neither forecasts nor refunds
     */
    static <S> Strategy<S> of(String name, long limit, StateCodec<S> codec, Rule<S> rule) {
        return new RuleStrategy<>(name, limit, codec, rule);
    }

    /**
     * A rate limiting rule as one pure function of state, time and cost.
     *
     * @param <S> the state, an immutable value
     */
    @FunctionalInterface
    interface Rule<S> {
        /**
         * Decides one request. A rule that allows a cost must allow every smaller one.
         *
         * @param state the state, or null when there is none
         * @param nowMicros the store's clock, epoch microseconds
         * @param cost at least 1
         * @return the verdict
         */
        Verdict<S> decide(@Nullable S state, long nowMicros, long cost);
    }

    /**
     * What a rule decided.
     *
     * @param allowed whether the request may go on
     * @param state the state that follows an allow; a denial's is ignored
     * @param retryAtMicros for a denial: the first instant at which the same request, alone, is allowed
     * @param <S> the state
     */
    record Verdict<S>(boolean allowed, @Nullable S state, long retryAtMicros) {
        /**
         * An allow.
         *
         * @param next the state that follows
         * @param <S> the state
         * @return the verdict
         */
        public static <S> Verdict<S> allow(S next) {
            return new Verdict<>(true, next, 0);
        }

        /**
         * A denial.
         *
         * @param retryAtMicros when the same request, alone, is allowed, epoch microseconds
         * @param <S> the state
         * @return the verdict
         */
        public static <S> Verdict<S> deny(long retryAtMicros) {
            return new Verdict<>(false, null, retryAtMicros);
        }
    }
}
