package io.throttlekit.vertx;

import io.throttlekit.conformance.HttpConformance;
import io.throttlekit.http.Admission;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import java.util.concurrent.TimeUnit;

/** A Vert.x Web router with a body handler behind the limit. */
class VertxConformanceTest extends HttpConformance<RoutingContext> {
    private final Vertx vertx = Vertx.vertx();

    @Override
    protected int start(Admission<RoutingContext> admission) {
        Router router = Router.router(vertx);
        router.route().handler(RateLimitHandler.create(admission));
        router.get("/").handler(routing -> noted(routing).end("hello"));
        router.get("/broken").handler(routing -> {
            throw new IllegalStateException("broken handler");
        });
        router.route("/ws").handler(routing -> routing.request().toWebSocket());
        router.post("/echo").handler(BodyHandler.create()).handler(routing -> {
            Buffer body = routing.body().buffer();
            noted(routing).end(body == null ? Buffer.buffer() : body);
        });
        HttpServer server =
                await(vertx.createHttpServer().requestHandler(router).listen(0, "127.0.0.1"));
        return server.actualPort();
    }

    private static RoutingContext noted(RoutingContext routing) {
        routing.response()
                .putHeader(THREAD, Thread.currentThread().getName())
                .putHeader(
                        PEER_PORT,
                        String.valueOf(routing.request().remoteAddress().port()));
        return routing;
    }

    @Override
    protected void stop() {
        await(vertx.close());
    }

    private static <T> T await(Future<T> future) {
        try {
            return future.toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
