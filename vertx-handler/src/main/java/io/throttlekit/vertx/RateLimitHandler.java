package io.throttlekit.vertx;

import io.throttlekit.http.Admission;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.SecurityPolicyHandler;

/**
 * Lets a request on to the next handler, or answers it with 429 or 503.
 *
 * <pre>{@code
 * router.route("/api/*")
 *         .handler(RateLimitHandler.create(Admission.<RoutingContext>builder(limiter)
 *                 .key(context -> context.request().getHeader("X-Api-Key"))
 *                 .failMode(FailMode.CLOSED)
 *                 .build()))
 *         .handler(BodyHandler.create());
 * }</pre>
 *
 * <p>A check that answers at once costs the request nothing. A check that takes longer pauses the request, so
 * that no part of its body is lost, and goes on on the request's own context, where it resumes what it paused.
 * A request that ended before is left as it is. Vert.x does not tell whether a request is paused already: a
 * handler in front that paused it has to resume it before it goes on, as those of Vert.x Web do. A client that leaves cancels the check; a response that
 * somebody else ended meanwhile, such as a timeout handler, stays theirs. An error, as of the key function,
 * fails the routing context.
 *
 * <p>Place it on an event-loop or worker context, not as a {@code blockingHandler}: it never blocks.
 *
 * @implNote Vert.x Web orders the handlers of one route by kind, and this one is a security policy: it comes
 *     before {@code BodyHandler}, where it spares reading a body that is refused anyway. To put it behind a
 *     handler of a later kind, give it a route of its own, or pass {@code context -> limit.handle(context)}.
 */
public sealed interface RateLimitHandler extends SecurityPolicyHandler permits AdmissionHandler {
    /**
     * A handler.
     *
     * @param admission what decides
     * @return a new handler, which may serve many routes
     */
    static RateLimitHandler create(Admission<RoutingContext> admission) {
        return new AdmissionHandler(admission);
    }
}
