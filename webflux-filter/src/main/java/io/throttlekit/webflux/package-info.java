/**
 * Rate limits for Spring WebFlux: a {@link io.throttlekit.webflux.RateLimitWebFilter} in front of the handlers, a
 * {@link io.throttlekit.webflux.ConcurrencyWebFilter} that sheds what the server cannot do, and a
 * {@link io.throttlekit.webflux.PacingExchangeFilter} behind a {@code WebClient}.
 */
@NullMarked
package io.throttlekit.webflux;

import org.jspecify.annotations.NullMarked;
