package io.throttlekit.webflux;

import static org.springframework.web.reactive.function.server.RequestPredicates.GET;
import static org.springframework.web.reactive.function.server.RequestPredicates.POST;
import static org.springframework.web.reactive.function.server.RouterFunctions.route;

import io.throttlekit.conformance.HttpConformance;
import io.throttlekit.http.Admission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.reactive.config.EnableWebFlux;
import org.springframework.web.reactive.function.BodyExtractors;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.reactive.handler.SimpleUrlHandlerMapping;
import org.springframework.web.reactive.socket.WebSocketHandler;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.adapter.WebHttpHandlerBuilder;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServer;

/**
 * Servers as {@link HttpConformance} wants them: a whole WebFlux application on Reactor Netty, with functional and
 * annotated handlers.
 */
final class ConformanceServers {
    private final List<Runnable> started = new ArrayList<>();

    int start(Admission<ServerWebExchange> admission) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.register(Application.class);
        context.registerBean(RateLimitWebFilter.class, () -> RateLimitWebFilter.of(admission));
        context.refresh();
        HttpHandler handler = WebHttpHandlerBuilder.applicationContext(context).build();
        DisposableServer server = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .protocol(HttpProtocol.HTTP11, HttpProtocol.H2C)
                .handle(new ReactorHttpHandlerAdapter(handler))
                .bindNow(Duration.ofSeconds(10));
        started.add(() -> {
            server.disposeNow(Duration.ofSeconds(10));
            context.close();
        });
        return server.port();
    }

    void stop() {
        started.forEach(Runnable::run);
        started.clear();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebFlux
    static class Application {
        @Bean
        RouterFunction<ServerResponse> routes() {
            return route(
                            POST("/echo"),
                            request -> ok(request).body(request.body(BodyExtractors.toDataBuffers()), DataBuffer.class))
                    .andRoute(GET("/broken"), request -> Mono.error(new IllegalStateException("broken handler")))
                    .andRoute(
                            GET("/stream"),
                            request -> ServerResponse.ok()
                                    .contentType(MediaType.TEXT_EVENT_STREAM)
                                    .body(Flux.just("one", "two", "three"), String.class));
        }

        private static ServerResponse.BodyBuilder ok(ServerRequest request) {
            return ServerResponse.ok()
                    .header(HttpConformance.THREAD, thread())
                    .header(HttpConformance.PEER_PORT, port(request.exchange()));
        }

        @Bean
        Hello hello() {
            return new Hello();
        }

        @Bean
        HandlerMapping sockets() {
            WebSocketHandler handler = session -> session.receive().then();
            SimpleUrlHandlerMapping mapping = new SimpleUrlHandlerMapping(Map.of("/ws", handler));
            mapping.setOrder(-1);
            return mapping;
        }
    }

    private static String port(ServerWebExchange exchange) {
        return String.valueOf(
                Objects.requireNonNull(exchange.getRequest().getRemoteAddress()).getPort());
    }

    @RestController
    static class Hello {
        @GetMapping("/")
        Mono<String> hello(ServerWebExchange exchange) {
            exchange.getResponse().getHeaders().set(HttpConformance.THREAD, thread());
            exchange.getResponse().getHeaders().set(HttpConformance.PEER_PORT, port(exchange));
            return Mono.just("hello");
        }
    }

    /** With its number, since another Vert.x gives its threads the same names. */
    private static String thread() {
        Thread thread = Thread.currentThread();
        return thread.getName() + "#" + thread.getId();
    }
}
