/** Rate limits for Spring WebFlux: a {@link io.throttlekit.webflux.RateLimitWebFilter} in front of the handlers. */
@NullMarked
package io.throttlekit.webflux;

import org.jspecify.annotations.NullMarked;
