package io.throttlekit.vertx;

import io.throttlekit.http.Outcome;
import io.throttlekit.http.RateLimitHeaders;
import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;

/**
 * One request on its way through the limit: the subscriber of its check.
 *
 * <p>While the handler is still in its call, nothing else runs on the request's context: no part of the body
 * is delivered, no close is seen. So an answer within the call is acted on in place, and only when the call
 * would return without one is the request paused. From then on everything happens in tasks of that context.
 */
final class Passage implements CoreSubscriber<Outcome> {
    /** In the form that Vert.x neither hashes nor encodes anew for each response. */
    private static final CharSequence RATE_LIMIT = HttpHeaders.createOptimized(RateLimitHeaders.RATE_LIMIT);

    private static final CharSequence RATE_LIMIT_POLICY =
            HttpHeaders.createOptimized(RateLimitHeaders.RATE_LIMIT_POLICY);

    private final RoutingContext routing;
    private final Context context;
    private final Thread caller = Thread.currentThread();

    // Touched on the caller within its call, and afterwards in tasks of the context: never by two at once.
    private boolean inTheCall = true;
    private @Nullable Subscription check;
    private @Nullable Outcome outcome;
    private @Nullable Throwable error;
    private boolean ended;
    private boolean paused;
    private int endHandler = -1;

    Passage(RoutingContext routing) {
        this.routing = routing;
        this.context = routing.vertx().getOrCreateContext();
    }

    void through(Mono<Outcome> check) {
        check.subscribe(this);
        inTheCall = false;
        if (outcome == null && error == null) {
            hold();
        } else {
            act();
        }
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        if (isInTheCall()) {
            begin(subscription);
        } else {
            context.runOnContext(ignored -> begin(subscription));
        }
    }

    private void begin(Subscription subscription) {
        if (ended) {
            subscription.cancel();
        } else {
            check = subscription;
            subscription.request(Long.MAX_VALUE);
        }
    }

    @Override
    public void onNext(Outcome outcome) {
        answer(outcome, null);
    }

    @Override
    public void onError(Throwable error) {
        answer(null, error);
    }

    @Override
    public void onComplete() {
        // There is one outcome, and that was it.
    }

    private void answer(@Nullable Outcome outcome, @Nullable Throwable error) {
        if (isInTheCall()) {
            this.outcome = outcome;
            this.error = error;
            return;
        }
        context.runOnContext(ignored -> {
            this.outcome = outcome;
            this.error = error;
            routing.removeEndHandler(endHandler);
            letGo();
            HttpServerResponse response = routing.response();
            if (!response.ended() && !response.closed()) {
                act();
            }
        });
    }

    private boolean isInTheCall() {
        // The thread is compared first: on another one, inTheCall may not be read.
        return Thread.currentThread() == caller && inTheCall;
    }

    private void hold() {
        HttpServerRequest request = routing.request();
        if (!request.isEnded()) {
            request.pause();
            paused = true;
        }
        endHandler = routing.addEndHandler(end -> {
            ended = true;
            if (check != null) {
                check.cancel();
            }
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

    private void act() {
        if (outcome == null) {
            routing.fail(error);
        } else {
            act(routing, outcome);
        }
    }

    static void act(RoutingContext routing, Outcome outcome) {
        if (outcome instanceof Outcome.Refusal refusal) {
            refuse(routing, refusal);
        } else {
            put(outcome, routing.response());
            routing.next();
        }
    }

    private static void put(Outcome outcome, HttpServerResponse response) {
        MultiMap headers = response.headers();
        // The limits of several handlers make a list of several lines.
        outcome.headers().forEach((name, value) -> {
            switch (name) {
                case RateLimitHeaders.RATE_LIMIT -> headers.add(RATE_LIMIT, value);
                case RateLimitHeaders.RATE_LIMIT_POLICY -> headers.add(RATE_LIMIT_POLICY, value);
                default -> headers.set(name, value);
            }
        });
    }

    static void refuse(RoutingContext routing, Outcome.Refusal refusal) {
        HttpServerResponse response = routing.response();
        put(refusal, response);
        response.setStatusCode(refusal.status()).end(refusal.body());
    }
}
