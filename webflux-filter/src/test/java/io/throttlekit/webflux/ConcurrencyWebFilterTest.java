package io.throttlekit.webflux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.web.reactive.function.server.RequestPredicates.GET;
import static org.springframework.web.reactive.function.server.RequestPredicates.POST;
import static org.springframework.web.reactive.function.server.RouterFunctions.route;

import io.throttlekit.FailMode;
import io.throttlekit.concurrency.AdaptiveConcurrency;
import io.throttlekit.concurrency.ConcurrencyGuard;
import io.throttlekit.concurrency.Lease;
import io.throttlekit.conformance.Overload;
import io.throttlekit.http.Admission;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.strategy.FixedWindow;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpStatus;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;
import reactor.test.StepVerifier;

class ConcurrencyWebFilterTest {
    private final AtomicInteger handled = new AtomicInteger();
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch left = new CountDownLatch(1);
    private @Nullable TestServer server;

    @AfterEach
    void stop() {
        if (server != null) {
            server.close();
        }
    }

    private TestServer serve(WebFilter... filters) {
        RouterFunction<ServerResponse> routes = route(GET("/"), request -> {
                    handled.incrementAndGet();
                    return ServerResponse.ok().bodyValue("hello");
                })
                .andRoute(POST("/"), request -> {
                    handled.incrementAndGet();
                    return request.bodyToMono(String.class)
                            .flatMap(body -> ServerResponse.ok().bodyValue(String.valueOf(body.length())));
                })
                .andRoute(
                        GET("/hangs"),
                        request -> Mono.<ServerResponse>never().doOnSubscribe(subscription -> reached.countDown()));
        TestServer started = TestServer.start(routes, (exchange, error) -> Mono.error(error), filters);
        server = started;
        return started;
    }

    private static ConcurrencyGuard guard(int limit) {
        return AdaptiveConcurrency.gradient2().minLimit(1).initialLimit(limit).build();
    }

    private static Mono<Void> filter(ConcurrencyGuard guard, ServerWebExchange exchange, Mono<Void> rest) {
        return ConcurrencyWebFilter.of(guard).filter(exchange, same -> rest);
    }

    private static MockServerWebExchange exchange() {
        return MockServerWebExchange.from(MockServerHttpRequest.get("/"));
    }

    private static Mono<Void> answers(ServerWebExchange exchange, HttpStatus status) {
        return Mono.fromRunnable(() -> exchange.getResponse().setStatusCode(status));
    }

    /** A client may have its response before the server has seen the end of it. */
    private static void awaitIdle(ConcurrencyGuard guard) {
        long start = System.nanoTime();
        while (guard.inFlight() > 0 && System.nanoTime() - start < 5_000_000_000L) {
            Thread.onSpinWait();
        }
        assertThat(guard.inFlight()).isZero();
    }

    @Test
    void refusesWhatIsAboveTheLimitBeforeTheBodyIsRead() throws Exception {
        ConcurrencyGuard guard = guard(1);
        TestServer server = serve(ConcurrencyWebFilter.of(guard).withRetryAfter(Duration.ofMillis(1500)));
        byte[] body = new byte[5 << 20];

        Lease held = guard.acquire();
        HttpResponse<String> refused = server.post("/", body);
        held.cancel();
        HttpResponse<String> next = server.get("/");

        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(refused.headers().firstValue("Retry-After")).hasValue("2");
        assertThat(refused.headers().firstValue("Content-Type")).hasValue("application/problem+json");
        assertThat(refused.headers().firstValue("Cache-Control")).hasValue("no-store");
        assertThat(refused.body()).contains("#temporary-reduced-capacity\"", "\"status\":503");
        assertThat(next.statusCode()).isEqualTo(200);
        assertThat(handled).hasValue(1);
        awaitIdle(guard);
    }

    @Test
    void doesNotSeeWhatIsSkipped() throws Exception {
        ConcurrencyGuard guard = guard(1);
        TestServer server = serve(ConcurrencyWebFilter.of(guard)
                .withSkip(exchange -> exchange.getRequest().getMethod().matches("GET")));

        Lease held = guard.acquire();
        HttpResponse<String> skipped = server.get("/");
        HttpResponse<String> refused = server.post("/", new byte[1]);
        held.cancel();

        assertThat(skipped.statusCode()).isEqualTo(200);
        assertThat(refused.statusCode()).isEqualTo(503);
        awaitIdle(guard);
    }

    @Test
    void standsBehindARateLimit() throws Exception {
        ConcurrencyGuard guard = guard(1);
        RateLimitWebFilter rate = RateLimitWebFilter.of(
                Admission.<ServerWebExchange>builder(Limiter.of(FixedWindow.of(2, Duration.ofHours(1))))
                        .key(exchange -> "everyone")
                        .failMode(FailMode.CLOSED)
                        .build());
        ConcurrencyWebFilter concurrency = ConcurrencyWebFilter.of(guard);
        TestServer server = serve(rate, concurrency);

        HttpResponse<String> served = server.get("/");
        awaitIdle(guard);
        Lease held = guard.acquire();
        HttpResponse<String> shed = server.get("/");
        HttpResponse<String> limited = server.get("/");
        held.cancel();

        assertThat(concurrency.getOrder()).isGreaterThan(rate.getOrder()).isLessThan(-100);
        assertThat(served.statusCode()).isEqualTo(200);
        assertThat(shed.statusCode()).isEqualTo(503);
        assertThat(shed.headers().firstValue("RateLimit")).isPresent();
        assertThat(limited.statusCode()).isEqualTo(429);
    }

    @Test
    void freesThePlaceOfAClientThatLeaves() throws Exception {
        ConcurrencyGuard guard = guard(1);
        TestServer server = serve(
                (exchange, chain) -> chain.filter(exchange).doFinally(signal -> left.countDown()),
                ConcurrencyWebFilter.of(guard));

        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            client.getOutputStream()
                    .write("GET /hangs HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(reached.await(5, TimeUnit.SECONDS)).isTrue();
            assertThat(guard.inFlight()).isEqualTo(1);
        }

        assertThat(left.await(5, TimeUnit.SECONDS)).isTrue();
        assertThat(server.get("/").statusCode()).isEqualTo(200);
    }

    @Test
    void countsTimeoutsAsDropsAndOtherErrorsAsNothing() {
        ConcurrencyGuard guard = guard(100);
        MockServerWebExchange late = exchange();
        MockServerWebExchange broken = exchange();

        StepVerifier.create(filter(guard, exchange(), Mono.error(new IllegalStateException())))
                .verifyError(IllegalStateException.class);
        StepVerifier.create(filter(guard, broken, answers(broken, HttpStatus.INTERNAL_SERVER_ERROR)))
                .verifyComplete();
        int afterErrors = guard.limit();
        StepVerifier.create(filter(guard, exchange(), Mono.error(new TimeoutException())))
                .verifyError(TimeoutException.class);
        StepVerifier.create(filter(guard, late, answers(late, HttpStatus.GATEWAY_TIMEOUT)))
                .verifyComplete();

        assertThat(afterErrors).isEqualTo(100);
        assertThat(guard.stats().dropped()).isEqualTo(2);
        assertThat(guard.limit()).isLessThan(100);
        assertThat(guard.inFlight()).isZero();
    }

    @Test
    void freesThePlaceWhenTheChainThrows() {
        ConcurrencyGuard guard = guard(1);

        Mono<Void> response = ConcurrencyWebFilter.of(guard).filter(exchange(), same -> {
            throw new IllegalStateException("chain");
        });

        StepVerifier.create(response).verifyErrorMessage("chain");
        assertThat(guard.inFlight()).isZero();
    }

    @Test
    void servesAnOverloadedEndpointAsWellAsTheBestFixedLimit() {
        Map<String, ConcurrencyGuard> guards = Overload.guards();
        ConnectionProvider connections = ConnectionProvider.create("overload", 500);
        Overload.Backend[] backends = new Overload.Backend[guards.size()];
        RouterFunctions.Builder routes = route();
        WebFilter[] filters = new WebFilter[guards.size()];
        int i = 0;
        for (Map.Entry<String, ConcurrencyGuard> each : guards.entrySet()) {
            Overload.Backend backend = new Overload.Backend();
            backends[i] = backend;
            String path = "/" + each.getKey();
            routes.GET(
                    path,
                    request ->
                            backend.work().flatMap(done -> ServerResponse.ok().bodyValue(done)));
            filters[i++] = ConcurrencyWebFilter.of(each.getValue())
                    .withSkip(
                            exchange -> !exchange.getRequest().getPath().value().equals(path));
        }
        TestServer started = TestServer.start(routes.build(), (exchange, error) -> Mono.error(error), filters);
        server = started;
        HttpClient client = HttpClient.create(connections).baseUrl("http://127.0.0.1:" + started.port());

        Map<String, Overload.Served> served = Overload.run(
                guards.keySet(),
                path -> client.get()
                        .uri("/" + path)
                        .responseSingle((response, body) -> body.asString()
                                .defaultIfEmpty("")
                                .thenReturn(response.status().code())));

        Overload.Served adaptive = Objects.requireNonNull(served.get(Overload.ADAPTIVE));
        Overload.Served unguarded = Objects.requireNonNull(served.get(Overload.UNGUARDED));
        int best =
                served.values().stream().mapToInt(Overload.Served::count).max().orElseThrow();
        assertThat(adaptive.count()).as(served.toString()).isGreaterThanOrEqualTo((int) (0.9 * best));
        assertThat(adaptive.percentile(99)).as(served.toString()).isLessThan(unguarded.percentile(50));
        connections.dispose();
        for (Overload.Backend backend : backends) {
            backend.stop();
        }
    }
}
