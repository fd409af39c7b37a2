package io.throttlekit.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.FailMode;
import io.throttlekit.http.Admission;
import io.throttlekit.http.Key;
import io.throttlekit.http.MissingKey;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.strategy.FixedWindow;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.auth.User;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.client.WebClient;
import io.vertx.ext.web.handler.PlatformHandler;
import io.vertx.ext.web.impl.UserContextInternal;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RoutingKeysTest {
    private final Vertx vertx = Vertx.vertx();
    private final WebClient client = WebClient.create(vertx);

    @AfterEach
    void stop() {
        await(vertx.close());
    }

    private static <T> T await(Future<T> future) {
        try {
            return future.toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static RateLimitHandler one(Key<RoutingContext> key) {
        return RateLimitHandler.create(
                Admission.<RoutingContext>builder(Limiter.of(FixedWindow.of(1, Duration.ofHours(1))))
                        .key(key)
                        .onMissingKey(MissingKey.unlimited())
                        .failMode(FailMode.CLOSED)
                        .build());
    }

    private int serve(Router router) {
        HttpServer server =
                await(vertx.createHttpServer().requestHandler(router).listen(0, "127.0.0.1"));
        return server.actualPort();
    }

    private int status(int port, String path, String user) {
        return await(client.get(port, "127.0.0.1", path)
                        .putHeaders(MultiMap.caseInsensitiveMultiMap().add("X-User", user))
                        .send())
                .statusCode();
    }

    @Test
    void tellsUsersApartAndHasNoKeyWithoutOne() {
        Router router = Router.router(vertx);
        router.route()
                .handler((PlatformHandler) routing -> {
                    String user = routing.request().getHeader("X-User");
                    if (!user.isEmpty()) {
                        ((UserContextInternal) routing.userContext()).setUser(User.fromName(user));
                    }
                    routing.next();
                })
                .handler(one(RoutingKeys.principal()))
                .handler(RoutingContext::end);
        int port = serve(router);

        List<Integer> statuses = Stream.of("ann", "ben", "ann", "", "")
                .map(user -> status(port, "/", user))
                .toList();

        assertThat(statuses).containsExactly(200, 200, 429, 200, 200);
    }

    @Test
    void takesAllThatMatchOneRouteForOne() {
        Router router = Router.router(vertx);
        RateLimitHandler limit = one(RoutingKeys.pathTemplate());
        router.route("/orders/:id").handler(limit).handler(RoutingContext::end);
        router.route("/items/:id").handler(limit).handler(RoutingContext::end);
        router.route().handler(limit).handler(RoutingContext::end);
        int port = serve(router);

        List<Integer> statuses = Stream.of("/orders/1", "/orders/2", "/items/1", "/nowhere", "/else")
                .map(path -> status(port, path, ""))
                .toList();

        assertThat(statuses).containsExactly(200, 429, 200, 200, 429);
    }
}
