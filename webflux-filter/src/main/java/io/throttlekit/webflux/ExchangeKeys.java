package io.throttlekit.webflux;

import io.throttlekit.http.Key;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Keys that Spring WebFlux knows of a request. */
public final class ExchangeKeys {
    private static final String NO_HANDLER = "(none)";

    private ExchangeKeys() {}

    /**
     * The name of who sent the request. Missing for a request without authentication, and for all requests when
     * the filter stands before the one that authenticates.
     *
     * @return the key
     */
    public static Key<ServerWebExchange> principal() {
        return (exchange, head) -> exchange.getPrincipal().map(Principal::getName);
    }

    /**
     * The pattern that the request's path matches, such as {@code /orders/{id}}, so that all orders count as one.
     * It is looked up in the handler mappings of the application. All requests that no handler is for have one
     * key, {@code (none)}.
     *
     * @return the key
     */
    public static Key<ServerWebExchange> pathTemplate() {
        return (exchange, head) -> Mono.defer(() -> {
            String known = template(exchange);
            return known == null ? lookedUp(exchange) : Mono.just(known);
        });
    }

    private static Mono<String> lookedUp(ServerWebExchange exchange) {
        ApplicationContext context = exchange.getApplicationContext();
        DispatcherHandler dispatcher = context == null
                ? null
                : context.getBeanProvider(DispatcherHandler.class).getIfAvailable();
        if (dispatcher == null || dispatcher.getHandlerMappings() == null) {
            return Mono.just(NO_HANDLER);
        }
        Lookup lookup = new Lookup(exchange);
        return Flux.fromIterable(dispatcher.getHandlerMappings())
                .concatMap(mapping -> mapping.getHandler(lookup))
                .next()
                .flatMap(handler -> Mono.justOrEmpty(template(lookup)))
                // A method that is not allowed, or a media type: whoever is to answer it says so later.
                .onErrorResume(error -> Mono.empty())
                .defaultIfEmpty(NO_HANDLER);
    }

    private static @Nullable String template(ServerWebExchange exchange) {
        Object pattern = exchange.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE);
        return pattern == null ? null : pattern.toString();
    }
}
