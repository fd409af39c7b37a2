/**
 * Rate limits for Vert.x: a {@link io.throttlekit.vertx.RateLimitHandler} on a route, a
 * {@link io.throttlekit.vertx.ConcurrencyHandler} that sheds what the server cannot do, and an
 * {@link io.throttlekit.vertx.OutboundPacer} before outbound calls. {@link io.throttlekit.vertx.FutureLimiter} and
 * {@link io.throttlekit.vertx.FutureShaper} are the rest of the library as futures.
 */
@NullMarked
package io.throttlekit.vertx;

import org.jspecify.annotations.NullMarked;
