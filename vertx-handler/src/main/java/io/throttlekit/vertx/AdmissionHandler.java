package io.throttlekit.vertx;

import io.throttlekit.http.Admission;
import io.throttlekit.http.Outcome;
import io.vertx.ext.web.RoutingContext;
import java.util.Objects;
import java.util.concurrent.Callable;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;

/** The handler: one {@link Passage} per request, unless the check answers at once for certain. */
final class AdmissionHandler implements RateLimitHandler {
    private final Admission<RoutingContext> admission;

    AdmissionHandler(Admission<RoutingContext> admission) {
        this.admission = Objects.requireNonNull(admission, "admission");
    }

    @Override
    public void handle(RoutingContext context) {
        Mono<Outcome> check = admission.admit(context, new RoutingHead(context.request()));
        if (check instanceof Callable<?> known) {
            answer(context, known);
        } else {
            new Passage(context).through(check);
        }
    }

    private static void answer(RoutingContext context, Callable<?> known) {
        Outcome outcome;
        try {
            outcome = (Outcome) known.call();
        } catch (Throwable e) {
            Exceptions.throwIfFatal(e);
            context.fail(e);
            return;
        }
        Passage.act(context, outcome);
    }
}
