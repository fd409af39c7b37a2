package io.throttlekit.examples.readme;

import io.throttlekit.FailMode;
import io.throttlekit.http.Admission;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.vertx.RateLimitHandler;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import java.time.Duration;

public class VertxService {
    public static void main(String[] args) {
        Vertx vertx = Vertx.vertx();
        vertx.createHttpServer().requestHandler(router(vertx)).listen(8080);
    }

    static Router router(Vertx vertx) {
        Limiter limiter = Limiter.of(Gcra.of(100, Duration.ofMinutes(1)).withBurst(20));
        Router router = Router.router(vertx);
        router.route("/api/*")
                .handler(RateLimitHandler.create(Admission.<RoutingContext>builder(limiter)
                        .policy("per-client")
                        .key(routing -> routing.request().getHeader("X-Api-Key"))
                        .failMode(FailMode.CLOSED)
                        .build()))
                .handler(BodyHandler.create());
        router.get("/api/hello").handler(routing -> routing.end("hello\n"));
        return router;
    }
}
