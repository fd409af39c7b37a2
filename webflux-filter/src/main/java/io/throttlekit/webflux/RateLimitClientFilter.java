package io.throttlekit.webflux;

import io.throttlekit.Decision;
import io.throttlekit.FailMode;
import io.throttlekit.RateLimitExceededException;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.limiter.Limiter;
import java.util.Objects;
import java.util.function.Function;
import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.ExchangeFilterFunction;
import org.springframework.web.reactive.function.client.ExchangeFunction;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Keeps the requests of a {@code WebClient} to a limit.
 *
 * <pre>{@code
 * WebClient.builder()
 *         .filter(RateLimitClientFilter.of(limiter, request -> request.url().getHost(), FailMode.OPEN))
 *         .build();
 * }</pre>
 *
 * <p>A request above the limit is not sent and fails with {@link RateLimitExceededException}. Each subscription
 * is charged one unit, so a retry is, too. When the store cannot decide, {@link FailMode#OPEN} sends the request
 * and {@link FailMode#CLOSED} fails it with the store's {@link StoreUnavailableException}. After an answer on
 * another thread it goes on on {@code Schedulers.parallel()}. Cancelling cancels the check or the request.
 */
public final class RateLimitClientFilter implements ExchangeFilterFunction {
    private final Limiter limiter;
    private final Function<? super ClientRequest, String> key;
    private final FailMode failMode;

    private RateLimitClientFilter(Limiter limiter, Function<? super ClientRequest, String> key, FailMode failMode) {
        this.limiter = Objects.requireNonNull(limiter, "limiter");
        this.key = Objects.requireNonNull(key, "key");
        this.failMode = Objects.requireNonNull(failMode, "failMode");
    }

    /**
     * A filter.
     *
     * @param limiter what decides
     * @param key whose limit a request counts on, such as the host; it must not block
     * @param failMode what becomes of a request when the store cannot decide
     * @return a new filter
     */
    public static RateLimitClientFilter of(
            Limiter limiter, Function<? super ClientRequest, String> key, FailMode failMode) {
        return new RateLimitClientFilter(limiter, key, failMode);
    }

    @Override
    public Mono<ClientResponse> filter(ClientRequest request, ExchangeFunction next) {
        return Mono.defer(() -> {
            Thread here = Thread.currentThread();
            return limiter.check(key.apply(request))
                    .map(decision -> decided(decision, request, next))
                    .onErrorResume(
                            StoreUnavailableException.class,
                            outage -> Mono.just(
                                    failMode == FailMode.OPEN
                                            ? Mono.defer(() -> next.exchange(request))
                                            : Mono.<ClientResponse>error(outage)))
                    .flatMap(rest -> Thread.currentThread() == here ? rest : rest.subscribeOn(Schedulers.parallel()));
        });
    }

    private static Mono<ClientResponse> decided(Decision decision, ClientRequest request, ExchangeFunction next) {
        return decision.allowed()
                ? Mono.defer(() -> next.exchange(request))
                : Mono.error(() -> new RateLimitExceededException(decision));
    }
}
