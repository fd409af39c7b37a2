/**
 * The algorithms. Each is one immutable class, exact in whole numbers, and stands beside its programs for
 * Redis ({@code .lua}) and PostgreSQL ({@code .sql}): one formula, three writings.
 *
 * <p>Start with {@link io.throttlekit.strategy.Gcra}. Take {@link io.throttlekit.strategy.TokenBucket} when
 * refill is described in tokens, {@link io.throttlekit.strategy.FixedWindow} or
 * {@link io.throttlekit.strategy.Quota} when the limit is a contract per calendar period,
 * {@link io.throttlekit.strategy.SlidingWindow} when no window edge may let twice the limit through, and
 * {@link io.throttlekit.strategy.SlidingWindowLog} when it must be exact to the millisecond at the price of
 * one stamp per unit.
 *
 * <p>{@link io.throttlekit.strategy.DepartureLine} is the leaky bucket, which answers with a time to wait; the
 * shapers of {@code io.throttlekit.shaping} are made of it.
 */
@NullMarked
package io.throttlekit.strategy;

import org.jspecify.annotations.NullMarked;
