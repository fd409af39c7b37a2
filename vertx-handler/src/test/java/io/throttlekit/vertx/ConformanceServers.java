package io.throttlekit.vertx;

import io.throttlekit.conformance.HttpConformance;
import io.throttlekit.http.Admission;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import java.util.concurrent.TimeUnit;

/** Servers as {@link HttpConformance} wants them: a Vert.x Web router with a body handler behind the limit. */
final class ConformanceServers {
    private final Vertx vertx = Vertx.vertx();

    int start(Admission<RoutingContext> admission) {
        Router router = Router.router(vertx);
        router.route().handler(RateLimitHandler.create(admission));
        router.get("/").handler(routing -> noted(routing).end("hello"));
        router.get("/broken").handler(routing -> {
            throw new IllegalStateException("broken handler");
        });
        router.get("/stream").handler(ConformanceServers::stream);
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
                .putHeader(HttpConformance.THREAD, thread())
                .putHeader(
                        HttpConformance.PEER_PORT,
                        String.valueOf(routing.request().remoteAddress().port()));
        return routing;
    }

    private static void stream(RoutingContext routing) {
        HttpServerResponse response =
                routing.response().setChunked(true).putHeader("Content-Type", "text/event-stream");
        response.write("data:one\n\n")
                .compose(one -> response.write("data:two\n\n"))
                .compose(two -> response.end("data:three\n\n"));
    }

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

    /** With its number, since another Vert.x gives its threads the same names. */
    private static String thread() {
        Thread thread = Thread.currentThread();
        return thread.getName() + "#" + thread.getId();
    }
}
