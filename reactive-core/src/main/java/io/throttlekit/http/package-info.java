/**
 * Everything about limiting HTTP requests that is the same in every server: whose limit a request counts on,
 * what happens when the store is down, and which status, headers and body the answer carries. No framework
 * is known here.
 *
 * <p><b>The way of a request.</b> It comes from an adapter, {@code io.throttlekit.webflux} or {@code io.throttlekit.vertx},
 * which calls {@link io.throttlekit.http.Admission#admit} on the request's thread. For each limit in turn, the admission
 * finds the key ({@link io.throttlekit.http.Key}, {@link io.throttlekit.http.ClientAddress},
 * {@link io.throttlekit.http.KeyHash}) and the cost, and asks the limiter: next is {@link io.throttlekit.limiter}. The
 * decision comes back on whichever thread the store answers on. All limits have to allow; at the first denial, what the
 * earlier ones took is given back. When the store cannot tell, the {@link io.throttlekit.FailMode} does. What the admission
 * hands back to the adapter is an {@link io.throttlekit.http.Outcome}: go on, 429 or 503, with
 * {@link io.throttlekit.http.RateLimitHeaders} and a {@link io.throttlekit.http.RefusalBody}. To bring it to the
 * request's own thread is the adapter's.
 */
@NullMarked
package io.throttlekit.http;

import org.jspecify.annotations.NullMarked;
