/**
 * The algorithms. Each is one immutable class, exact in whole numbers, and stands beside its programs for
 * Redis ({@code .lua}) and PostgreSQL ({@code .sql}): one formula, three writings.
 *
 * <p><b>The way of a request.</b> It ends here. A store calls the {@link io.throttlekit.Transform} that a limiter had made:
 * with a state and its own clock, to compute the next state, and then to read the answer from that step. A store that runs
 * programs calls it with the reply of the script instead. Either way it is the strategy's one method that makes the
 * {@link io.throttlekit.Decision}. These classes are pure: they call nobody, wait for nothing, and run on whichever thread
 * the store has. From here the decision goes back: the store emits it, the limiter passes it on, an
 * {@link io.throttlekit.http.Admission} makes an {@link io.throttlekit.http.Outcome} of it, and the adapter a response.
 *
 * <p>Start with {@link io.throttlekit.strategy.Gcra}. Take {@link io.throttlekit.strategy.TokenBucket} when
 * refill is described in tokens, {@link io.throttlekit.strategy.FixedWindow} or
 * {@link io.throttlekit.strategy.Quota} when the limit is a contract per calendar period,
 * {@link io.throttlekit.strategy.SlidingWindow} when no window edge may let twice the limit through, and
 * {@link io.throttlekit.strategy.SlidingWindowLog} when it must be exact to the millisecond at the price of
 * one stamp per unit.
 *
 * <p>{@link io.throttlekit.strategy.DepartureLine} is the leaky bucket, which answers with a time to wait; the
 * shapers of {@link io.throttlekit.shaping} are made of it.
 */
@NullMarked
package io.throttlekit.strategy;

import org.jspecify.annotations.NullMarked;
