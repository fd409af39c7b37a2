package io.throttlekit.examples;

import io.throttlekit.FailMode;
import io.throttlekit.conformance.PostgresServer;
import io.throttlekit.conformance.PostgresServers;
import io.throttlekit.http.Admission;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.pg.PgStore;
import io.throttlekit.strategy.TokenBucket;
import io.throttlekit.vertx.RateLimitHandler;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.pgclient.PgConnectOptions;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Map;

/**
 * Vert.x Web with a limit per API key, a bucket of two tokens that gains one an hour, kept in PostgreSQL.
 *
 * <p>It asks itself, and prints
 *
 * <pre>{@code
 * ann /hello: 200, RateLimit-Policy: "per-client";q=2;w=7200, RateLimit: "per-client";r=1;t=3600
 * ann /hello: 200, RateLimit-Policy: "per-client";q=2;w=7200, RateLimit: "per-client";r=0;t=7200
 * ann /hello: 429, RateLimit-Policy: "per-client";q=2;w=7200, RateLimit: "per-client";r=0;t=3600, Retry-After: 3600
 * bob /hello: 200, RateLimit-Policy: "per-client";q=2;w=7200, RateLimit: "per-client";r=1;t=3600
 * }</pre>
 *
 * <p>Its argument is the address of a database, such as {@code postgresql://user:password@localhost/database}; without
 * one it starts a server of its own.
 */
public final class VertxOnPg {
    private VertxOnPg() {}

    /**
     * Runs once and ends.
     *
     * @param args the address of a database, or none
     */
    public static void main(String[] args) {
        run(args.length == 0 ? "" : args[0], System.out);
    }

    static void run(String uri, PrintStream out) {
        if (uri.isBlank()) {
            try (PostgresServer postgres = PostgresServers.own(Map.of())) {
                run(postgres.uri(postgres.createDatabase()), out);
            }
            return;
        }
        Vertx vertx = Vertx.vertx();
        PgStore store = PgStore.builder(vertx, PgConnectOptions.fromUri(uri))
                .deadline(Duration.ofSeconds(5))
                .build();
        try {
            run(vertx, store, out);
        } finally {
            store.close().block();
            await(vertx.close());
        }
    }

    private static void run(Vertx vertx, PgStore store, PrintStream out) {
        Limiter limiter = Limiter.builder(TokenBucket.of(2, 1, Duration.ofHours(1)))
                .store(store)
                .prefix("example")
                .build();
        // What an earlier run took is given back, so that each prints the same.
        limiter.reset("ann").then(limiter.reset("bob")).block();

        HttpServer server = await(start(vertx, limiter));
        Caller caller = new Caller(server.actualPort(), out);
        for (String apiKey : new String[] {"ann", "ann", "ann", "bob"}) {
            caller.get("/hello", apiKey);
        }
    }

    private static Future<HttpServer> start(Vertx vertx, Limiter limiter) {
        Router router = Router.router(vertx);
        router.get("/hello")
                .handler(RateLimitHandler.create(Admission.<RoutingContext>builder(limiter)
                        .policy("per-client")
                        .key(routing -> routing.request().getHeader("X-Api-Key"))
                        .failMode(FailMode.CLOSED)
                        .build()))
                .handler(routing -> routing.end("hello\n"));
        return vertx.createHttpServer().requestHandler(router).listen(0, "127.0.0.1");
    }

    /** Waits on the thread of {@code main}, which is no event loop. */
    private static <T> T await(Future<T> future) {
        return future.toCompletionStage().toCompletableFuture().join();
    }
}
