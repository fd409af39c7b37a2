package io.throttlekit.examples;

import static org.springframework.web.reactive.function.server.RequestPredicates.GET;

import io.throttlekit.FailMode;
import io.throttlekit.conformance.RedisServer;
import io.throttlekit.conformance.RedisServers;
import io.throttlekit.http.Admission;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.redis.RedisStore;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.webflux.RateLimitWebFilter;
import java.io.PrintStream;
import java.time.Duration;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.reactive.function.server.HandlerStrategies;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/**
 * WebFlux with a limit per API key, two requests an hour, kept in Redis.
 *
 * <p>It asks itself, and prints
 *
 * <pre>{@code
 * ann /hello: 200, RateLimit-Policy: "per-client";q=2;w=3600, RateLimit: "per-client";r=1;t=1800
 * ann /hello: 200, RateLimit-Policy: "per-client";q=2;w=3600, RateLimit: "per-client";r=0;t=3600
 * ann /hello: 429, RateLimit-Policy: "per-client";q=2;w=3600, RateLimit: "per-client";r=0;t=1800, Retry-After: 1800
 * bob /hello: 200, RateLimit-Policy: "per-client";q=2;w=3600, RateLimit: "per-client";r=1;t=1800
 * }</pre>
 *
 * <p>Its argument is the address of a Redis, such as {@code redis://localhost}; without one it starts a server of its
 * own.
 */
public final class WebFluxOnRedis {
    private WebFluxOnRedis() {}

    /**
     * Runs once and ends.
     *
     * @param args the address of a Redis, or none
     */
    public static void main(String[] args) {
        run(args.length == 0 ? "" : args[0], System.out);
    }

    static void run(String uri, PrintStream out) {
        if (uri.isBlank()) {
            try (RedisServer redis = RedisServers.own()) {
                run(redis.uri(), out);
            }
            return;
        }
        RedisStore store =
                RedisStore.builder(uri).deadline(Duration.ofSeconds(2)).build();
        try {
            run(store, out);
        } finally {
            store.close().block();
        }
    }

    private static void run(RedisStore store, PrintStream out) {
        Limiter limiter = Limiter.builder(Gcra.of(2, Duration.ofHours(1)))
                .store(store)
                .prefix("example")
                .build();
        // What an earlier run took is given back, so that each prints the same.
        limiter.reset("ann").then(limiter.reset("bob")).block();

        DisposableServer server = start(limiter);
        Caller caller = new Caller(server.port(), out);
        for (String apiKey : new String[] {"ann", "ann", "ann", "bob"}) {
            caller.get("/hello", apiKey);
        }
        server.disposeNow();
    }

    private static DisposableServer start(Limiter limiter) {
        RateLimitWebFilter limit = RateLimitWebFilter.of(Admission.<ServerWebExchange>builder(limiter)
                .policy("per-client")
                .key(exchange -> exchange.getRequest().getHeaders().getFirst("X-Api-Key"))
                .failMode(FailMode.CLOSED)
                .build());
        return HttpServer.create()
                .host("127.0.0.1")
                .handle(new ReactorHttpHandlerAdapter(RouterFunctions.toHttpHandler(
                        RouterFunctions.route(
                                GET("/hello"), request -> ServerResponse.ok().bodyValue("hello\n")),
                        HandlerStrategies.builder().webFilter(limit).build())))
                .bindNow();
    }
}
