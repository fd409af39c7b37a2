package io.throttlekit.vertx;

import io.throttlekit.http.Key;
import io.vertx.ext.auth.User;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.RoutingContext;
import reactor.core.publisher.Mono;

/** Keys that Vert.x Web knows of a request. */
public final class RoutingKeys {
    private RoutingKeys() {}

    /**
     * The subject of the user. Missing for a request without one, and for all requests when the handler stands
     * before the one that authenticates.
     *
     * @return the key
     */
    public static Key<RoutingContext> principal() {
        return (routing, head) -> {
            User user = routing.user();
            return user == null ? Mono.empty() : Mono.justOrEmpty(user.subject());
        };
    }

    /**
     * The path of the route that the handler is on, such as {@code /orders/:id}, so that all orders count as one.
     * A route without a path has the key {@code /}.
     *
     * @return the key
     */
    public static Key<RoutingContext> pathTemplate() {
        return (routing, head) -> {
            Route route = routing.currentRoute();
            String path = route == null ? null : route.getPath();
            return Mono.just(path == null ? "/" : path);
        };
    }
}
