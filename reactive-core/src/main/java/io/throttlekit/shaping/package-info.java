/**
 * Shaping: instead of saying no, tell each request when it may go, and wait without blocking.
 *
 * <p>A {@link io.throttlekit.shaping.Shaper} made by {@link io.throttlekit.shaping.LeakyBucket} keeps one line of
 * departures per key, in any store, so that a fleet shares it. It reserves, waits on a Reactor scheduler, and
 * paces a {@code Flux} or {@code Mono} as an operator.
 */
@NullMarked
package io.throttlekit.shaping;

import org.jspecify.annotations.NullMarked;
