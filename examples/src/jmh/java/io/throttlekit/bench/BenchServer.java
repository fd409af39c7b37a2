package io.throttlekit.bench;

import com.sun.management.OperatingSystemMXBean;
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
import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.reactive.function.server.HandlerStrategies;
import org.springframework.web.reactive.function.server.RequestPredicates;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** A process with one tiny endpoint and something in front of it, which tells its own CPU time at {@code /cpu}. */
final class BenchServer {
    /** What is in front of the endpoint. */
    enum Front {
        NONE("nothing in front"),
        /** What is left of a limit that takes no time: two fields, added when the limit adds them. */
        FIELDS("two constant fields"),
        LIMIT("limit");

        final String text;

        Front(String text) {
            this.text = text;
        }
    }

    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private static final String POLICY = "\"default\";q=100000000;w=60";
    private static final String LEFT = "\"default\";r=99999999;t=1";

    private BenchServer() {}

    /** Takes {@code webflux} or {@code vertx}, and a {@link Front}; prints its port. */
    public static void main(String[] args) {
        Front front = Front.valueOf(args[1]);
        if (args[0].equals("vertx")) {
            vertx(front);
        } else {
            webflux(front);
        }
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

    private static void vertx(Front front) {
        Vertx vertx = Vertx.vertx();
        Router router = Router.router(vertx);
        router.get("/cpu").handler(routing -> routing.end(Long.toString(PROCESS.getProcessCpuTime())));
        Route route = router.get("/");
        if (front == Front.LIMIT) {
            route.handler(RateLimitHandler.create(BenchServer.<RoutingContext>admission()));
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
        vertx.createHttpServer()
                .requestHandler(router)
                .listen(0, "127.0.0.1")
                .onSuccess(server -> System.out.println(server.actualPort()));
    }

    private static void webflux(Front front) {
        RouterFunction<ServerResponse> routes = RouterFunctions.route(
                        RequestPredicates.GET("/"),
                        request -> ServerResponse.ok().bodyValue("hello"))
                .andRoute(
                        RequestPredicates.GET("/cpu"),
                        request -> ServerResponse.ok().bodyValue(Long.toString(PROCESS.getProcessCpuTime())));
        HandlerStrategies.Builder strategies = HandlerStrategies.builder();
        if (front == Front.LIMIT) {
            strategies.webFilter(RateLimitWebFilter.of(BenchServer.<ServerWebExchange>admission()));
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
        DisposableServer server = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle(new ReactorHttpHandlerAdapter(RouterFunctions.toHttpHandler(routes, strategies.build())))
                .bindNow();
        System.out.println(server.port());
        server.onDispose().block();
    }
}
