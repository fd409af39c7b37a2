package io.throttlekit.webflux.autoconfigure;

import io.throttlekit.limiter.Limiter;
import java.util.Iterator;
import org.springframework.boot.health.contributor.AbstractReactiveHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import reactor.core.publisher.Mono;

/** Up while the store of the limits answers. It looks at a key without taking anything from it. */
final class LimitsHealth extends AbstractReactiveHealthIndicator {
    private static final String KEY = "(health)";

    private final Limits limits;

    LimitsHealth(Limits limits) {
        super("the store of the limits does not answer");
        this.limits = limits;
    }

    @Override
    protected Mono<Health> doHealthCheck(Health.Builder builder) {
        builder.withDetail("limits", limits.names().size());
        Iterator<Limiter> any = limits.limiters().values().iterator();
        // All limits are over one store, and the store has a deadline of its own.
        return any.hasNext()
                ? any.next().peek(KEY).map(decision -> builder.up().build())
                : Mono.just(builder.up().build());
    }
}
