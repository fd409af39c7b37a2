package io.throttlekit.bench;

import io.throttlekit.FailMode;
import io.throttlekit.http.Admission;
import io.throttlekit.http.ClientAddress;
import io.throttlekit.http.Key;
import io.throttlekit.http.RateLimitHeaders;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.vertx.RateLimitHandler;
import io.throttlekit.webflux.RateLimitWebFilter;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Route;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.reactive.function.server.HandlerStrategies;
import org.springframework.web.reactive.function.server.RequestPredicates;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServer;

/** A process with one tiny endpoint at several ports, and something else in front of it at each. */
final class BenchServer {
    /** What serves it. */
    enum Kind {
        WEBFLUX("webflux"),
        VERTX("vertx");

        final String text;

        Kind(String text) {
            this.text = text;
        }
    }

    /** What is in front of the endpoint. */
    enum Front {
        NONE,
        /** What no filter can do without: a place in the chain, and on WebFlux a hook before the commit. */
        EMPTY,
        /** What is left of a limit that takes no time: two fields, added when the limit adds them. */
        FIELDS,
        LIMIT
    }

    private static final String POLICY = "\"default\";q=100000000;w=60";
    private static final String LEFT = "\"default\";r=99999999;t=1";

    private BenchServer() {}

    /** Takes a {@link Kind}, prints a port for each {@link Front}, and ends with its input. */
    public static void main(String[] args) throws Exception {
        Kind kind = Kind.valueOf(args[0]);
        Vertx vertx = kind == Kind.VERTX ? Vertx.vertx() : null;
        for (Front front : Front.values()) {
            System.out.println(vertx == null ? webflux(front) : vertx(vertx, front));
        }
        while (System.in.read() >= 0) {
            // Whoever started this process holds the other end.
        }
        System.exit(0);
    }

    private static Limiter limiter() {
        return Limiter.of(Gcra.of(100_000_000, Duration.ofMinutes(1)));
    }

    private static <C> Admission<C> admission() {
        return Admission.<C>builder(limiter())
                .key(Key.address(ClientAddress.ofPeer()))
                .failMode(FailMode.CLOSED)
                .build();
    }

    private static int vertx(Vertx vertx, Front front) throws Exception {
        Router router = Router.router(vertx);
        Route route = router.get("/");
        if (front == Front.LIMIT) {
            route.handler(RateLimitHandler.create(BenchServer.<RoutingContext>admission()));
        } else if (front == Front.EMPTY) {
            route.handler(RoutingContext::next);
        } else if (front == Front.FIELDS) {
            route.handler(routing -> {
                routing.response()
                        .headers()
                        .add(RateLimitHeaders.RATE_LIMIT_POLICY, POLICY)
                        .add(RateLimitHeaders.RATE_LIMIT, LEFT);
                routing.next();
            });
        }
        route.handler(routing -> routing.end("hello"));
        return vertx.createHttpServer()
                .requestHandler(router)
                .listen(0, "127.0.0.1")
                .toCompletionStage()
                .toCompletableFuture()
                .get(1, TimeUnit.MINUTES)
                .actualPort();
    }

    private static int webflux(Front front) {
        RouterFunction<ServerResponse> routes = RouterFunctions.route(
                RequestPredicates.GET("/"), request -> ServerResponse.ok().bodyValue("hello"));
        HandlerStrategies.Builder strategies = HandlerStrategies.builder();
        if (front == Front.LIMIT) {
            strategies.webFilter(RateLimitWebFilter.of(BenchServer.<ServerWebExchange>admission()));
        } else if (front == Front.EMPTY) {
            strategies.webFilter((exchange, chain) -> {
                exchange.getResponse().beforeCommit(Mono::empty);
                return chain.filter(exchange);
            });
        } else if (front == Front.FIELDS) {
            strategies.webFilter((exchange, chain) -> {
                exchange.getResponse().beforeCommit(() -> {
                    HttpHeaders headers = exchange.getResponse().getHeaders();
                    headers.add(RateLimitHeaders.RATE_LIMIT_POLICY, POLICY);
                    headers.add(RateLimitHeaders.RATE_LIMIT, LEFT);
                    return Mono.empty();
                });
                return chain.filter(exchange);
            });
        }
        return HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle(new ReactorHttpHandlerAdapter(RouterFunctions.toHttpHandler(routes, strategies.build())))
                .bindNow()
                .port();
    }
}
