/**
 * Rate limits for Spring WebFlux: a {@link io.throttlekit.webflux.RateLimitWebFilter} in front of the handlers,
 * and a {@link io.throttlekit.webflux.ConcurrencyWebFilter} that sheds what the server cannot do.
 */
@NullMarked
package io.throttlekit.webflux;

import org.jspecify.annotations.NullMarked;
