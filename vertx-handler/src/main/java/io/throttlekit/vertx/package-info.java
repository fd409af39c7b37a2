/**
 * Rate limits for Vert.x Web: a {@link io.throttlekit.vertx.RateLimitHandler} on a route, and a
 * {@link io.throttlekit.vertx.ConcurrencyHandler} that sheds what the server cannot do.
 */
@NullMarked
package io.throttlekit.vertx;

import org.jspecify.annotations.NullMarked;
