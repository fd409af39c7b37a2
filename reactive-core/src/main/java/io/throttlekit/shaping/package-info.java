/**
 * Shaping: instead of saying no, tell each request when it may go, and wait without blocking.
 *
 * <p>A {@link io.throttlekit.shaping.Shaper} made by {@link io.throttlekit.shaping.LeakyBucket} keeps one line of
 * departures per key, in any store, so that a fleet shares it. It reserves, waits on a Reactor scheduler, and
 * paces a {@code Flux} or {@code Mono} as an operator.
 *
 * <p><b>The way of a request.</b> It comes from the filters and pacers of {@code io.throttlekit.webflux} and
 * {@code io.throttlekit.vertx} before they call out, or from code of your own. The shaper asks a
 * {@link io.throttlekit.strategy.DepartureLine} for a {@link io.throttlekit.Transform} and hands it to its
 * {@link io.throttlekit.Store}, as a limiter does. What comes back is a {@link io.throttlekit.shaping.Reservation}: a
 * departure, or that the queue is full. The shaper decides nothing more than how to wait: it goes on at once on the
 * subscriber's thread when there is nothing to wait for, else at the departure, on its scheduler.
 */
@NullMarked
package io.throttlekit.shaping;

import org.jspecify.annotations.NullMarked;
