package io.throttlekit.examples.page;

import static org.springframework.web.reactive.function.server.RequestPredicates.GET;

import io.netty.channel.Channel;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.reactive.function.server.HandlerStrategies;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Flux;
import reactor.netty.DisposableServer;
import reactor.netty.FutureMono;
import reactor.netty.http.server.HttpServer;

/** A server of a page, beside a path of somebody else's. When it is closed, so are its connections, also those that a browser
 * keeps to spare. */
record PageServer(DemoPage page, DisposableServer server, Queue<Channel> channels) implements AutoCloseable {

    /** On the given port, or on a free one for 0. */
    static PageServer start(DemoPage page, int port) {
        Queue<Channel> channels = new ConcurrentLinkedQueue<>();
        DisposableServer server = HttpServer.create()
                .host("127.0.0.1")
                .port(port)
                .doOnChannelInit((observer, channel, peer) -> channels.add(channel))
                .handle(new ReactorHttpHandlerAdapter(RouterFunctions.toHttpHandler(
                        page.routes()
                                .andRoute(
                                        GET("/{name}"),
                                        request -> ServerResponse.ok().bodyValue("other")),
                        HandlerStrategies.builder().webFilter(page.seats()).build())))
                .bindNow();
        return new PageServer(page, server, channels);
    }

    int port() {
        return server.port();
    }

    String address(String path) {
        return "http://127.0.0.1:" + port() + path;
    }

    void awaitVisitors(int visitors) {
        Flux.interval(Duration.ofMillis(10))
                .takeUntil(tick -> page.visitors() == visitors)
                .blockLast(Duration.ofSeconds(10));
    }

    @Override
    public void close() {
        server.disposeNow();
        Flux.fromIterable(channels)
                .flatMap(channel -> FutureMono.from(channel.close()))
                .then()
                .block(Duration.ofSeconds(10));
    }
}
