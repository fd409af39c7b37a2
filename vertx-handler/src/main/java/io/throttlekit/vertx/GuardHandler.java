package io.throttlekit.vertx;

import io.throttlekit.concurrency.ConcurrencyGuard;
import io.throttlekit.concurrency.Lease;
import io.throttlekit.http.Outcome;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Predicate;

/** The handler: a lease from the guard per request, given back at the end of the response. */
final class GuardHandler implements ConcurrencyHandler {
    private static final int ERRORS = 400;
    private static final int GATEWAY_TIMEOUT = 504;

    private final ConcurrencyGuard guard;
    private final Predicate<? super RoutingContext> skip;
    private final Outcome.Unavailable refusal;

    GuardHandler(ConcurrencyGuard guard, Predicate<? super RoutingContext> skip, Outcome.Unavailable refusal) {
        this.guard = Objects.requireNonNull(guard, "guard");
        this.skip = Objects.requireNonNull(skip, "skip");
        this.refusal = refusal;
    }

    @Override
    public ConcurrencyHandler withSkip(Predicate<? super RoutingContext> skip) {
        return new GuardHandler(guard, skip, refusal);
    }

    @Override
    public ConcurrencyHandler withRetryAfter(Duration retryAfter) {
        return new GuardHandler(guard, skip, Outcome.Unavailable.overloaded(retryAfter));
    }

    @Override
    public void handle(RoutingContext routing) {
        if (skip.test(routing)) {
            routing.next();
            return;
        }
        Lease lease = guard.acquire();
        if (!lease.ok()) {
            Passage.refuse(routing, refusal);
            return;
        }
        routing.addEndHandler(ended -> {
            if (ended.failed()) {
                lease.cancel();
            } else {
                end(lease, routing);
            }
        });
        routing.next();
    }

    private static void end(Lease lease, RoutingContext routing) {
        int status = routing.response().getStatusCode();
        Throwable failure = routing.failure();
        if (status == GATEWAY_TIMEOUT) {
            lease.releaseDropped();
        } else if (failure != null) {
            lease.releaseFailed(failure);
        } else if (status < ERRORS) {
            lease.release();
        } else {
            lease.cancel();
        }
    }
}
