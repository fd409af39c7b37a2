package io.throttlekit.webflux;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * Finds out which {@link RateLimited} method a request is for, before the {@link RateLimitWebFilter} asks: a filter
 * that stands in front of it.
 *
 * <p>The method is looked up in the mappings of the annotated controllers, on the thread of the request, and once
 * more when the request is handled. Register it only where there are such methods.
 */
public final class RateLimitedHandlers implements WebFilter, Ordered {
    private static final String NAMES = RateLimitedHandlers.class.getName() + ".names";

    private final List<RequestMappingHandlerMapping> mappings;
    private final int order;

    private RateLimitedHandlers(List<RequestMappingHandlerMapping> mappings, int order) {
        this.mappings = List.copyOf(mappings);
        this.order = order;
    }

    /**
     * A filter just before a {@link RateLimitWebFilter} of the default order.
     *
     * @param mappings where the annotated controllers are
     * @return a new filter
     */
    public static RateLimitedHandlers of(List<RequestMappingHandlerMapping> mappings) {
        return new RateLimitedHandlers(mappings, RateLimitWebFilter.DEFAULT_ORDER - 1);
    }

    /**
     * The same filter in another place.
     *
     * @param order lower comes first; below that of the {@link RateLimitWebFilter}
     * @return a new filter
     */
    public RateLimitedHandlers withOrder(int order) {
        return new RateLimitedHandlers(mappings, order);
    }

    /**
     * Which requests are for a method that is limited by a name.
     *
     * @param name of the limit
     * @return false for all requests that have not come through this filter
     */
    public static Predicate<ServerWebExchange> named(String name) {
        return exchange -> {
            Set<String> names = exchange.getAttribute(NAMES);
            return names != null && names.contains(name);
        };
    }

    /**
     * The names that are used, for a check that each of them is one of a limit.
     *
     * @return the names of all annotations, sorted
     */
    public Set<String> names() {
        Set<String> names = new TreeSet<>();
        for (RequestMappingHandlerMapping mapping : mappings) {
            for (HandlerMethod method : mapping.getHandlerMethods().values()) {
                names.addAll(namesOf(method));
            }
        }
        return names;
    }

    @Override
    public int getOrder() {
        return order;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        return Mono.defer(() -> (mappings.isEmpty() ? Mono.<HandlerMethod>empty() : find(new Lookup(exchange), 0))
                .doOnNext(method -> exchange.getAttributes().put(NAMES, namesOf(method)))
                .then(Mono.defer(() -> chain.filter(exchange))));
    }

    private Mono<HandlerMethod> find(Lookup exchange, int at) {
        if (at == mappings.size()) {
            return Mono.empty();
        }
        return Mono.defer(() -> mappings.get(at).getHandlerInternal(exchange))
                // A method or a media type that does not fit: whoever handles the request answers that.
                .onErrorResume(error -> Mono.empty())
                .switchIfEmpty(Mono.defer(() -> find(exchange, at + 1)));
    }

    private static Set<String> namesOf(HandlerMethod method) {
        RateLimited limited = AnnotatedElementUtils.findMergedAnnotation(method.getMethod(), RateLimited.class);
        return named(
                limited == null
                        ? AnnotatedElementUtils.findMergedAnnotation(method.getBeanType(), RateLimited.class)
                        : limited);
    }

    private static Set<String> named(@Nullable RateLimited limited) {
        return limited == null ? Set.of() : Set.of(limited.value());
    }
}
