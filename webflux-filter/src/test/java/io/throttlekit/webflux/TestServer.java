package io.throttlekit.webflux;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.reactive.function.server.HandlerStrategies;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.server.WebExceptionHandler;
import org.springframework.web.server.WebFilter;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** WebFlux on a Reactor Netty server of its own, on loopback, and a client for it. */
final class TestServer implements AutoCloseable {
    private final DisposableServer server;
    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(5))
            .build();

    private TestServer(DisposableServer server) {
        this.server = server;
    }

    static TestServer start(RouterFunction<?> routes, WebExceptionHandler errors, WebFilter... filters) {
        HandlerStrategies.Builder strategies = HandlerStrategies.builder();
        for (WebFilter filter : filters) {
            strategies.webFilter(filter);
        }
        strategies.exceptionHandler(errors);
        return new TestServer(HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle(new ReactorHttpHandlerAdapter(RouterFunctions.toHttpHandler(routes, strategies.build())))
                .bindNow(Duration.ofSeconds(5)));
    }

    int port() {
        return server.port();
    }

    HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path))
                .timeout(Duration.ofSeconds(10));
    }

    HttpResponse<String> get(String path) throws Exception {
        return send(request(path).GET());
    }

    HttpResponse<String> post(String path, byte[] body) throws Exception {
        return send(request(path).POST(HttpRequest.BodyPublishers.ofByteArray(body)));
    }

    HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return client.send(request.build(), BodyHandlers.ofString());
    }

    @Override
    public void close() {
        server.disposeNow(Duration.ofSeconds(5));
    }
}
