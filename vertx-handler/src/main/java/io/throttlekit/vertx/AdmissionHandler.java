package io.throttlekit.vertx;

import io.throttlekit.http.Admission;
import io.vertx.ext.web.RoutingContext;
import java.util.Objects;

/** The handler: one {@link Passage} per request. */
final class AdmissionHandler implements RateLimitHandler {
    private final Admission<RoutingContext> admission;

    AdmissionHandler(Admission<RoutingContext> admission) {
        this.admission = Objects.requireNonNull(admission, "admission");
    }

    @Override
    public void handle(RoutingContext context) {
        new Passage(context).through(admission);
    }
}
