package io.throttlekit.examples;

import io.throttlekit.FailMode;
import io.throttlekit.http.Admission;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.strategy.TokenBucket;
import io.throttlekit.vertx.RateLimitHandler;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Map;

/**
 * Vert.x Web with a limit per client: a bucket of 5 tokens that gains one every two seconds.
 *
 * <p>It prints
 *
 * <pre>{@code
 * curl -i http://localhost:8081/hello
 * }</pre>
 *
 * <p>The first five of these in a row are answered with 200, the sixth with 429 and {@code Retry-After: 2}.
 */
public final class VertxApp {
    private VertxApp() {}

    /**
     * Serves until it is stopped.
     *
     * @param args none
     */
    public static void main(String[] args) {
        Vertx vertx = Vertx.vertx();
        run(vertx, 8081, System.out).onFailure(error -> {
            System.err.println(error.getMessage());
            vertx.close();
        });
    }

    static Future<HttpServer> run(Vertx vertx, int port, PrintStream out) {
        Limiter limiter = Limiter.of(TokenBucket.of(5, 1, Duration.ofSeconds(2)));
        return start(vertx, port, Map.of("hello", limiter))
                .onSuccess(server -> out.println("curl -i http://localhost:" + server.actualPort() + "/hello"));
    }

    /** Serves one path per limiter, on the given port or on a free one for 0. */
    static Future<HttpServer> start(Vertx vertx, int port, Map<String, Limiter> limiters) {
        Router router = Router.router(vertx);
        limiters.forEach((name, limiter) -> router.get("/" + name).handler(limit(name, limiter)));
        router.get("/:name").handler(routing -> routing.end("hello from Vert.x\n"));
        return vertx.createHttpServer().requestHandler(router).listen(port, "127.0.0.1");
    }

    private static RateLimitHandler limit(String name, Limiter limiter) {
        return RateLimitHandler.create(Admission.<RoutingContext>builder(limiter)
                .policy(name)
                .key(VertxApp::client)
                .failMode(FailMode.CLOSED)
                .build());
    }

    /** Whose limit it is: who shows an API key counts by it, everyone else by address. */
    private static String client(RoutingContext routing) {
        String apiKey = routing.request().getHeader("X-Api-Key");
        return apiKey != null
                ? "key:" + apiKey
                : "address:" + routing.request().remoteAddress().hostAddress();
    }
}
