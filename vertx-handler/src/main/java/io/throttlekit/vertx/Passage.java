package io.throttlekit.vertx;

import io.throttlekit.http.Admission;
import io.throttlekit.http.Outcome;
import io.throttlekit.http.RateLimitHeaders;
import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.BaseSubscriber;

/**
 * One request on its way through the limit: the subscriber of its check.
 *
 * <p>While the handler is still in its call, nothing else runs on the request's context: no part of the body
 * is delivered, no close is seen. So an answer within the call is acted on in place, and only when the call
 * would return without one is the request paused. From then on everything happens in tasks of that context.
 */
final class Passage extends BaseSubscriber<Outcome> {
    private final RoutingContext routing;
    private final Context context;
    private final Thread caller = Thread.currentThread();

    // Touched on the caller within its call, and afterwards in tasks of the context: never by two at once.
    private boolean inTheCall = true;
    private @Nullable Runnable atOnce;
    private boolean paused;
    private int endHandler = -1;

    Passage(RoutingContext routing) {
        this.routing = routing;
        this.context = routing.vertx().getOrCreateContext();
    }

    void through(Admission<RoutingContext> admission) {
        admission.admit(routing, new RoutingHead(routing.request())).subscribe(this);
        inTheCall = false;
        if (atOnce != null) {
            atOnce.run();
        } else {
            hold();
        }
    }

    @Override
    protected void hookOnNext(Outcome outcome) {
        answer(() -> act(outcome));
    }

    @Override
    protected void hookOnError(Throwable error) {
        answer(() -> routing.fail(error));
    }

    private void answer(Runnable action) {
        // The thread is compared first: on another one, inTheCall may not be read.
        if (Thread.currentThread() == caller && inTheCall) {
            atOnce = action;
            return;
        }
        context.runOnContext(ignored -> {
            routing.removeEndHandler(endHandler);
            letGo();
            HttpServerResponse response = routing.response();
            if (!response.ended() && !response.closed()) {
                action.run();
            }
        });
    }

    private void hold() {
        HttpServerRequest request = routing.request();
        if (!request.isEnded()) {
            request.pause();
            paused = true;
        }
        endHandler = routing.addEndHandler(ended -> {
            cancel();
            letGo();
        });
    }

    /** Resuming delivers nothing before this task is over, so whoever comes next can still set its handlers. */
    private void letGo() {
        if (paused) {
            paused = false;
            routing.request().resume();
        }
    }

    private void act(Outcome outcome) {
        if (outcome instanceof Outcome.Refusal refusal) {
            refuse(routing, refusal);
        } else {
            put(outcome, routing.response());
            routing.next();
        }
    }

    private static void put(Outcome outcome, HttpServerResponse response) {
        MultiMap headers = response.headers();
        outcome.headers().forEach((name, value) -> {
            // The limits of several handlers make a list of several lines.
            if (RateLimitHeaders.isList(name)) {
                headers.add(name, value);
            } else {
                headers.set(name, value);
            }
        });
    }

    static void refuse(RoutingContext routing, Outcome.Refusal refusal) {
        HttpServerResponse response = routing.response();
        put(refusal, response);
        response.setStatusCode(refusal.status()).end(refusal.body());
    }
}
