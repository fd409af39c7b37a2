/**
 * Rate limits for Vert.x: a {@link io.throttlekit.vertx.RateLimitHandler} on a route, a
 * {@link io.throttlekit.vertx.ConcurrencyHandler} that sheds what the server cannot do, and an
 * {@link io.throttlekit.vertx.OutboundPacer} before outbound calls.
 */
@NullMarked
package io.throttlekit.vertx;

import org.jspecify.annotations.NullMarked;
