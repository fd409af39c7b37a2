/**
 * The vocabulary and the contracts: what a {@link io.throttlekit.Decision} says, what a
 * {@link io.throttlekit.Strategy} computes, what a {@link io.throttlekit.Store} keeps.
 *
 * <p>A request meets them in this order. A limiter asks its strategy for a
 * {@link io.throttlekit.Transform}, which is a pure function of {@code (state, now)}. The store applies
 * it to one key atomically, with its own clock, and answers with what the transform reads from the
 * {@link io.throttlekit.Step} it made: a {@link io.throttlekit.Decision}. A store that can run the
 * transform's {@link io.throttlekit.Program} where the state lives does so in one round trip; any other
 * store runs the function, with the same result.
 */
@NullMarked
package io.throttlekit;

import org.jspecify.annotations.NullMarked;
