package io.throttlekit.vertx;

import io.throttlekit.concurrency.ConcurrencyGuard;
import io.throttlekit.http.Outcome;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.SecurityPolicyHandler;
import java.time.Duration;
import java.util.function.Predicate;

/**
 * Lets as many requests at a time on to the next handler as a {@link ConcurrencyGuard} finds right, and answers
 * the others at once with 503, {@code Retry-After} and a problem of the type {@code temporary-reduced-capacity},
 * before their bodies are read.
 *
 * <pre>{@code
 * router.route("/api/*")
 *         .handler(ConcurrencyHandler.create(AdaptiveConcurrency.gradient2().build()))
 *         .handler(BodyHandler.create());
 * }</pre>
 *
 * <p>A place is held until the response ends or its connection closes. A response below 400 is a sample for the
 * law. A failure is a drop if the guard's options say so, and so is the status 504, which a
 * {@code TimeoutHandler.create(millis, 504)} gives; other failures and statuses from 400 on free the place and
 * say nothing, since they often come faster than any work is done. A client that leaves only frees the place.
 * Everything stays on the request's own context.
 *
 * <p>Place it behind a {@link RateLimitHandler}: what is above a rate limit then takes no place. Responses that
 * last by design, such as event streams and web sockets, should be skipped: they hold a place for as long as they
 * last.
 */
public sealed interface ConcurrencyHandler extends SecurityPolicyHandler permits GuardHandler {
    /**
     * A handler that skips nothing and says to come back in a second.
     *
     * @param guard what decides
     * @return a new handler, which may serve many routes
     */
    static ConcurrencyHandler create(ConcurrencyGuard guard) {
        return new GuardHandler(guard, routing -> false, Outcome.Unavailable.overloaded(Duration.ofSeconds(1)));
    }

    /**
     * The same handler, for which some requests do not exist: they always go on and are not counted.
     *
     * @param skip which; runs on the request's context and must not block
     * @return a new handler
     */
    ConcurrencyHandler withSkip(Predicate<? super RoutingContext> skip);

    /**
     * The same handler with another {@code Retry-After}.
     *
     * @param retryAfter more than zero; rounded up to whole seconds
     * @return a new handler
     * @throws IllegalArgumentException if it is zero or negative
     */
    ConcurrencyHandler withRetryAfter(Duration retryAfter);
}
