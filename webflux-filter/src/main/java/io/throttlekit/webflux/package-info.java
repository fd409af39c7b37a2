/**
 * Rate limits for Spring WebFlux: a {@link io.throttlekit.webflux.RateLimitWebFilter} in front of the handlers, and
 * a {@link io.throttlekit.webflux.PacingExchangeFilter} behind a {@code WebClient}.
 */
@NullMarked
package io.throttlekit.webflux;

import org.jspecify.annotations.NullMarked;
