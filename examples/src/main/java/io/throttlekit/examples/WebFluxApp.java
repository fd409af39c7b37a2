package io.throttlekit.examples;

import static org.springframework.web.reactive.function.server.RequestPredicates.GET;

import io.throttlekit.FailMode;
import io.throttlekit.examples.page.DemoPage;
import io.throttlekit.http.Admission;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.webflux.RateLimitWebFilter;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.reactive.function.server.HandlerStrategies;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/**
 * WebFlux with a limit per client: 5 requests per 10 seconds. The demo's page is at {@code /}.
 *
 * <p>It prints
 *
 * <pre>{@code
 * curl -i http://localhost:8080/hello
 * }</pre>
 *
 * <p>The first five of these in a row are answered with 200, the sixth with 429 and {@code Retry-After: 2}.
 */
public final class WebFluxApp {
    private WebFluxApp() {}

    /**
     * Serves until it is stopped.
     *
     * @param args none
     */
    public static void main(String[] args) {
        run(8080, System.out).onDispose().block();
    }

    static DisposableServer run(int port, PrintStream out) {
        Limiter limiter = Limiter.of(Gcra.of(5, Duration.ofSeconds(10)));
        DisposableServer server = start(port, Map.of("hello", limiter));
        out.println("curl -i http://localhost:" + server.port() + "/hello");
        return server;
    }

    /** Serves one path per limiter, on the given port or on a free one for 0. */
    static DisposableServer start(int port, Map<String, Limiter> limiters) {
        return start(port, limiters, DemoPage.create());
    }

    /** Serves the demo's page as well. */
    static DisposableServer start(int port, Map<String, Limiter> limiters, DemoPage page) {
        Map<String, WebFilter> limits = new TreeMap<>();
        limiters.forEach((name, limiter) -> limits.put("/" + name, limit(name, limiter)));
        WebFilter limitByPath = (exchange, chain) -> {
            WebFilter limit = limits.get(exchange.getRequest().getPath().value());
            return limit == null ? chain.filter(exchange) : limit.filter(exchange, chain);
        };
        RouterFunction<ServerResponse> routes = page.routes()
                .andRoute(GET("/{name}"), request -> ServerResponse.ok().bodyValue("hello from WebFlux\n"));
        HandlerStrategies strategies = HandlerStrategies.builder()
                .webFilter(limitByPath)
                .webFilter(page.seats())
                .build();
        return HttpServer.create()
                .host("127.0.0.1")
                .port(port)
                .handle(new ReactorHttpHandlerAdapter(RouterFunctions.toHttpHandler(routes, strategies)))
                .bindNow();
    }

    private static RateLimitWebFilter limit(String name, Limiter limiter) {
        return RateLimitWebFilter.of(Admission.<ServerWebExchange>builder(limiter)
                .policy(name)
                .key(WebFluxApp::client)
                .failMode(FailMode.CLOSED)
                .build());
    }

    /** Whose limit it is: who shows an API key counts by it, everyone else by address. */
    private static @Nullable String client(ServerWebExchange exchange) {
        String apiKey = exchange.getRequest().getHeaders().getFirst("X-Api-Key");
        if (apiKey != null) {
            return "key:" + apiKey;
        }
        InetSocketAddress peer = exchange.getRequest().getRemoteAddress();
        return peer == null ? null : "address:" + peer.getAddress().getHostAddress();
    }
}
