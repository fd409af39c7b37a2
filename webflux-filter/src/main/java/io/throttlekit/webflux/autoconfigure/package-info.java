/**
 * Limits from the properties of a Spring Boot application. The one package of the adapters that knows stores: it
 * makes them.
 *
 * <p><b>The way of a request</b> does not lead through here; this is where it is laid. When the application starts, Spring
 * Boot calls {@link io.throttlekit.webflux.autoconfigure.ThrottleKitAutoConfiguration}, on its main thread. It makes the
 * store, a limiter for each limit of the properties and the {@link io.throttlekit.http.Admission} over all of them, and
 * puts a {@link io.throttlekit.webflux.RateLimitWebFilter} in front of the handlers. Health and the endpoint look at what
 * was made and take nothing from a limit. From then on it goes as {@link io.throttlekit.webflux} tells.
 */
@NullMarked
package io.throttlekit.webflux.autoconfigure;

import org.jspecify.annotations.NullMarked;
