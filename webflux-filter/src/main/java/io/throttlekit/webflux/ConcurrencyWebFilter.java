package io.throttlekit.webflux;

import io.throttlekit.concurrency.ConcurrencyGuard;
import io.throttlekit.concurrency.Lease;
import io.throttlekit.http.Outcome;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * Lets as many requests at a time on to the rest of the chain as a {@link ConcurrencyGuard} finds right, and
 * answers the others at once with 503, {@code Retry-After} and a problem of the type
 * {@code temporary-reduced-capacity}, before their bodies are read.
 *
 * <pre>{@code
 * @Bean
 * ConcurrencyWebFilter concurrency() {
 *     return ConcurrencyWebFilter.of(AdaptiveConcurrency.gradient2().build())
 *             .withSkip(exchange -> exchange.getRequest().getPath().value().startsWith("/actuator"));
 * }
 * }</pre>
 *
 * <p>A place is held from the subscription to the end of the response. A response below 400 is a sample for the
 * law. An error is a drop if the guard's options say so, and so is the status 504; other errors and statuses from
 * 400 on free the place and say nothing, since they often come faster than any work is done. A client that leaves
 * only frees the place. Everything stays on the thread it is on.
 *
 * <p>Responses that last by design, such as event streams and web sockets, should be skipped: they hold a place
 * for as long as they last.
 */
public final class ConcurrencyWebFilter implements WebFilter, Ordered {
    /** Just behind {@link RateLimitWebFilter}: what is above a rate limit takes no place. */
    public static final int DEFAULT_ORDER = RateLimitWebFilter.DEFAULT_ORDER + 1;

    private final ConcurrencyGuard guard;
    private final Predicate<? super ServerWebExchange> skip;
    private final Outcome.Unavailable refusal;
    private final int order;

    private ConcurrencyWebFilter(
            ConcurrencyGuard guard, Predicate<? super ServerWebExchange> skip, Outcome.Unavailable refusal, int order) {
        this.guard = Objects.requireNonNull(guard, "guard");
        this.skip = Objects.requireNonNull(skip, "skip");
        this.refusal = refusal;
        this.order = order;
    }

    /**
     * A filter of {@link #DEFAULT_ORDER} that skips nothing and says to come back in a second.
     *
     * @param guard what decides
     * @return a new filter
     */
    public static ConcurrencyWebFilter of(ConcurrencyGuard guard) {
        return new ConcurrencyWebFilter(
                guard, exchange -> false, Outcome.Unavailable.overloaded(Duration.ofSeconds(1)), DEFAULT_ORDER);
    }

    /**
     * The same filter, for which some requests do not exist: they always go on and are not counted.
     *
     * @param skip which; runs on the request's thread and must not block
     * @return a new filter
     */
    public ConcurrencyWebFilter withSkip(Predicate<? super ServerWebExchange> skip) {
        return new ConcurrencyWebFilter(guard, skip, refusal, order);
    }

    /**
     * The same filter with another {@code Retry-After}.
     *
     * @param retryAfter more than zero; rounded up to whole seconds
     * @return a new filter
     * @throws IllegalArgumentException if it is zero or negative
     */
    public ConcurrencyWebFilter withRetryAfter(Duration retryAfter) {
        return new ConcurrencyWebFilter(guard, skip, Outcome.Unavailable.overloaded(retryAfter), order);
    }

    /**
     * The same filter in another place.
     *
     * @param order lower comes first
     * @return a new filter
     */
    public ConcurrencyWebFilter withOrder(int order) {
        return new ConcurrencyWebFilter(guard, skip, refusal, order);
    }

    @Override
    public int getOrder() {
        return order;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        return Mono.defer(() -> {
            if (skip.test(exchange)) {
                return chain.filter(exchange);
            }
            Lease lease = guard.acquire();
            return lease.ok()
                    ? within(lease, exchange, chain)
                    : RateLimitWebFilter.refuse(refusal, exchange.getResponse());
        });
    }

    // The clean-up is for what the signals do not tell: a client that leaves, and a chain that throws.
    private static Mono<Void> within(Lease lease, ServerWebExchange exchange, WebFilterChain chain) {
        return Mono.using(
                () -> lease,
                held -> chain.filter(exchange)
                        .doOnSuccess(done -> end(held, exchange.getResponse().getStatusCode()))
                        .doOnError(held::releaseFailed),
                Lease::cancel,
                true);
    }

    private static void end(Lease lease, @Nullable HttpStatusCode status) {
        if (status == null || !status.isError()) {
            lease.release();
        } else if (status.value() == HttpStatus.GATEWAY_TIMEOUT.value()) {
            lease.releaseDropped();
        } else {
            lease.cancel();
        }
    }
}
