/**
 * Rate limits for Vert.x.
 *
 * <p><b>The way of a request.</b> It begins here. The router calls a {@link io.throttlekit.vertx.RateLimitHandler}, on the
 * context of the request. The handler decides nothing: it shows the routing context to an
 * {@link io.throttlekit.http.Admission} and does what the {@link io.throttlekit.http.Outcome} says. A refusal ends the
 * response; anything else puts its headers and calls {@code next()}. While an answer is waited for, the request is paused;
 * it goes on on its own context, whichever thread the answer came on. Next: {@link io.throttlekit.http}.
 *
 * <p>Beside that way, a {@link io.throttlekit.vertx.ConcurrencyHandler} asks {@link io.throttlekit.concurrency} for a place
 * per request and sheds those that get none, and an {@link io.throttlekit.vertx.OutboundPacer} before outbound calls waits
 * for its turn in {@link io.throttlekit.shaping}. {@link io.throttlekit.vertx.FutureLimiter} and
 * {@link io.throttlekit.vertx.FutureShaper} are for code of your own: they ask {@link io.throttlekit.limiter} and
 * {@link io.throttlekit.shaping}, and complete their futures on the caller's context.
 */
@NullMarked
package io.throttlekit.vertx;

import org.jspecify.annotations.NullMarked;
