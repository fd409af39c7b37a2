package io.throttlekit.webflux;

import io.throttlekit.http.Admission;
import io.throttlekit.http.Outcome;
import io.throttlekit.http.RateLimitHeaders;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.springframework.core.Ordered;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * Lets a request on to the rest of the chain, or answers it with 429 or 503.
 *
 * <pre>{@code
 * @Bean
 * RateLimitWebFilter rateLimit(Limiter limiter) {
 *     return RateLimitWebFilter.of(Admission.<ServerWebExchange>builder(limiter)
 *             .key(exchange -> exchange.getRequest().getHeaders().getFirst("X-Api-Key"))
 *             .failMode(FailMode.CLOSED)
 *             .build());
 * }
 * }</pre>
 *
 * <p>The headers of a request that goes on are added when its response is committed, so that errors, streams
 * and responses without a handler carry them too. The refusal is written here, because a filter's errors do
 * not reach a {@code @ControllerAdvice}.
 *
 * <p>The chain runs once per admitted request, with the subscriber's Reactor context. When the check answers
 * at once, everything stays on the thread it is on. When it answers later, from another thread, the chain, the
 * refusal and the error go on on the event loop of the request's own connection; on servers other than Reactor
 * Netty, on {@code Schedulers.parallel()}. A client that leaves cancels the check.
 */
public final class RateLimitWebFilter implements WebFilter, Ordered {
    /**
     * Just before Spring Security's filter, which has order &minus;100: a flood is turned away before anyone
     * is authenticated. A key that needs the principal needs an order above that.
     */
    public static final int DEFAULT_ORDER = -110;

    private final Admission<ServerWebExchange> admission;
    private final int order;

    private RateLimitWebFilter(Admission<ServerWebExchange> admission, int order) {
        this.admission = Objects.requireNonNull(admission, "admission");
        this.order = order;
    }

    /**
     * A filter of {@link #DEFAULT_ORDER}.
     *
     * @param admission what decides
     * @return a new filter
     */
    public static RateLimitWebFilter of(Admission<ServerWebExchange> admission) {
        return new RateLimitWebFilter(admission, DEFAULT_ORDER);
    }

    /**
     * The same filter in another place.
     *
     * @param order lower comes first
     * @return a new filter
     */
    public RateLimitWebFilter withOrder(int order) {
        return new RateLimitWebFilter(admission, order);
    }

    @Override
    public int getOrder() {
        return order;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        Mono<Outcome> check = admission.admit(exchange, new ExchangeHead(exchange.getRequest()));
        if (check instanceof Callable) {
            // It never leaves the thread, and without anything in between the chain is subscribed to as it is.
            return check.flatMap(outcome -> act(outcome, exchange, chain));
        }
        return Mono.defer(() -> {
            Thread here = Thread.currentThread();
            return check.onErrorResume(error -> backFrom(here, exchange, Mono.error(error)))
                    .flatMap(outcome -> backFrom(here, exchange, Mono.defer(() -> act(outcome, exchange, chain))));
        });
    }

    /** Subscribes on the request's thread, unless the answer came without leaving it. */
    private static <T> Mono<T> backFrom(Thread before, ServerWebExchange exchange, Mono<T> next) {
        return Thread.currentThread() == before ? next : next.subscribeOn(RequestThread.of(exchange));
    }

    private static Mono<Void> act(Outcome outcome, ServerWebExchange exchange, WebFilterChain chain) {
        if (outcome instanceof Outcome.Refusal refusal) {
            return refuse(refusal, exchange.getResponse());
        }
        addHeaders(outcome.headers(), exchange.getResponse());
        return chain.filter(exchange);
    }

    private static void addHeaders(Map<String, String> fields, ServerHttpResponse response) {
        if (fields.isEmpty()) {
            return;
        }
        response.beforeCommit(() -> {
            HttpHeaders headers = response.getHeaders();
            fields.forEach((name, value) -> {
                // The limits of several filters make a list of several lines.
                if (RateLimitHeaders.isList(name)) {
                    headers.add(name, value);
                } else {
                    headers.set(name, value);
                }
            });
            return Mono.empty();
        });
    }

    static Mono<Void> refuse(Outcome.Refusal refusal, ServerHttpResponse response) {
        if (!response.setStatusCode(HttpStatusCode.valueOf(refusal.status()))) {
            // Something has answered already; what is on the wire cannot be taken back.
            return Mono.empty();
        }
        byte[] body = refusal.body().getBytes(StandardCharsets.UTF_8);
        response.getHeaders().setContentLength(body.length);
        // After those of the filters in front, which are written at the commit, too: the last word is the refusal's.
        addHeaders(refusal.headers(), response);
        DataBuffer buffer = response.bufferFactory().wrap(body);
        return response.writeWith(Mono.just(buffer));
    }
}
