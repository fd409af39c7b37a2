/**
 * Rate limits for Spring WebFlux.
 *
 * <p><b>The way of a request.</b> It begins here. Spring calls {@link io.throttlekit.webflux.RateLimitWebFilter} in its
 * chain of filters, on the event loop of the request's connection. The filter decides nothing: it shows the exchange
 * to an {@link io.throttlekit.http.Admission} and does what the {@link io.throttlekit.http.Outcome} says. A refusal is
 * written and ends the request. Anything else goes on along the chain, and its headers are added when the response is
 * committed. When the answer comes on another thread, such as a store's, the filter first goes back to the request's
 * own. Next: {@link io.throttlekit.http}.
 *
 * <p>Beside that way, {@link io.throttlekit.webflux.ConcurrencyWebFilter} asks {@link io.throttlekit.concurrency} for a
 * place per request and sheds those that get none. For calls that leave the server,
 * {@link io.throttlekit.webflux.RateLimitClientFilter} asks a {@link io.throttlekit.limiter.Limiter}, and
 * {@link io.throttlekit.webflux.PacingExchangeFilter} waits for its turn in {@link io.throttlekit.shaping}. Spring Boot
 * makes the filter from properties: {@link io.throttlekit.webflux.autoconfigure}.
 */
@NullMarked
package io.throttlekit.webflux;

import org.jspecify.annotations.NullMarked;
