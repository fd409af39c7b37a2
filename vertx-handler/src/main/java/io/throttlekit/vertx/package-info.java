/** Rate limits for Vert.x Web: a {@link io.throttlekit.vertx.RateLimitHandler} on a route. */
@NullMarked
package io.throttlekit.vertx;

import org.jspecify.annotations.NullMarked;
