package io.throttlekit.examples.soak;

import static org.springframework.web.reactive.function.server.RequestPredicates.GET;

import io.throttlekit.FailMode;
import io.throttlekit.Store;
import io.throttlekit.http.Admission;
import io.throttlekit.limiter.LeaseOptions;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.limiter.TwoTier;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.vertx.RateLimitHandler;
import io.throttlekit.webflux.RateLimitWebFilter;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.reactive.function.server.HandlerStrategies;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;

/** A server with a path per limit; two of them share a store, as nodes of a fleet do. */
final class Site implements AutoCloseable {
    static final String WINDOW = "window";
    static final String LEASED = "leased";
    static final String RATE = "rate";

    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final FixedWindow PER_SECOND = FixedWindow.of(20, SECOND);
    private static final FixedWindow LEASED_PER_SECOND = FixedWindow.of(30, SECOND);
    private static final int RATE_PER_SECOND = 25;
    private static final int BURST = 10;
    private static final Gcra PACED = Gcra.of(RATE_PER_SECOND, SECOND).withBurst(BURST);
    private static final int BATCH = 5;

    private final String name;
    private final Map<String, Limiter> limiters;
    private final int port;
    private final Runnable stop;

    private Site(String name, Map<String, Limiter> limiters, int port, Runnable stop) {
        this.name = name;
        this.limiters = limiters;
        this.port = port;
        this.stop = stop;
    }

    /** What the limits promise, for all nodes together. */
    static Map<String, Bound> bounds(String store, Consumer<String> violations) {
        return Map.of(
                WINDOW,
                Bound.ofWindow(store + ", " + WINDOW, PER_SECOND.limit(), violations),
                LEASED,
                Bound.ofWindow(store + ", " + LEASED, LEASED_PER_SECOND.limit(), violations),
                RATE,
                Bound.ofRate(store + ", " + RATE, 1_000_000 / RATE_PER_SECOND, BURST, violations));
    }

    private static Map<String, Limiter> limiters(Backend backend) {
        Store store = backend.store();
        LeaseOptions lease = LeaseOptions.batch(BATCH).windowCoupled();
        if (!backend.deadline().isZero()) {
            lease = lease.deadline(backend.deadline());
        }
        Map<String, Limiter> limiters = new LinkedHashMap<>();
        limiters.put(
                WINDOW, Limiter.builder(PER_SECOND).store(store).prefix(WINDOW).build());
        limiters.put(
                LEASED,
                TwoTier.leased(LEASED_PER_SECOND, store, lease).prefix(LEASED).build());
        limiters.put(RATE, Limiter.builder(PACED).store(store).prefix(RATE).build());
        return limiters;
    }

    static Site webFlux(Backend backend, Ledger ledger) {
        Map<String, Limiter> limiters = limiters(backend);
        Map<String, WebFilter> filters = new HashMap<>();
        limiters.forEach((policy, limiter) -> filters.put(
                "/" + policy,
                RateLimitWebFilter.of(Admission.<ServerWebExchange>builder(limiter)
                        .policy(policy)
                        .key(exchange -> "everyone")
                        .failMode(FailMode.CLOSED)
                        .listener(ledger)
                        .build())));
        WebFilter byPath = (exchange, chain) -> {
            WebFilter filter = filters.get(exchange.getRequest().getPath().value());
            return filter == null ? chain.filter(exchange) : filter.filter(exchange, chain);
        };
        DisposableServer server = reactor.netty.http.server.HttpServer.create()
                .host("127.0.0.1")
                .handle(new ReactorHttpHandlerAdapter(RouterFunctions.toHttpHandler(
                        RouterFunctions.route(
                                GET("/{policy}"), request -> ServerResponse.ok().bodyValue("served\n")),
                        HandlerStrategies.builder().webFilter(byPath).build())))
                .bindNow();
        return new Site("WebFlux on " + backend.name(), limiters, server.port(), server::disposeNow);
    }

    static Site vertx(Vertx vertx, Backend backend, Ledger ledger) {
        Map<String, Limiter> limiters = limiters(backend);
        Router router = Router.router(vertx);
        limiters.forEach((policy, limiter) -> router.get("/" + policy)
                .handler(RateLimitHandler.create(Admission.<RoutingContext>builder(limiter)
                        .policy(policy)
                        .key(routing -> "everyone")
                        .failMode(FailMode.CLOSED)
                        .listener(ledger)
                        .build())));
        router.get("/:policy").handler(routing -> routing.end("served\n"));
        try {
            HttpServer server = vertx.createHttpServer()
                    .requestHandler(router)
                    .listen(0, "127.0.0.1")
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get();
            return new Site("Vert.x on " + backend.name(), limiters, server.actualPort(), server::close);
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException("the server cannot be started", e);
        }
    }

    String name() {
        return name;
    }

    Iterable<String> policies() {
        return limiters.keySet();
    }

    String uri(String policy) {
        return "http://127.0.0.1:" + port + "/" + policy;
    }

    @Override
    public void close() {
        stop.run();
        Mono.when(limiters.values().stream().map(Limiter::close).toList()).block(Duration.ofSeconds(10));
    }
}
