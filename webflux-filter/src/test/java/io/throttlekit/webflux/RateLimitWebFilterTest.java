package io.throttlekit.webflux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.web.reactive.function.server.RequestPredicates.GET;
import static org.springframework.web.reactive.function.server.RequestPredicates.POST;
import static org.springframework.web.reactive.function.server.RouterFunctions.route;

import io.throttlekit.FailMode;
import io.throttlekit.Store;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.conformance.GatedStore;
import io.throttlekit.http.Admission;
import io.throttlekit.http.MissingKey;
import io.throttlekit.http.RateLimitHeaders;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.FixedWindow;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscriber;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpStatus;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.reactive.function.BodyExtractors;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

class RateLimitWebFilterTest {
    private static final int FIVE_MEGABYTES = 5 << 20;
    private static final Mono<Void> DOWN =
            Mono.error(() -> new StoreUnavailableException(Reason.DISCONNECTED, false, "no connection", null));

    private final MemoryStore memory = MemoryStore.create();
    private final Scheduler storeThread = Schedulers.newSingle("store");
    private final Store late = new GatedStore(
            memory, Mono.delay(Duration.ofMillis(50), storeThread).then());

    private final AtomicInteger handled = new AtomicInteger();
    private final AtomicReference<@Nullable Thread> arrivedOn = new AtomicReference<>();
    private final AtomicReference<@Nullable Thread> handledOn = new AtomicReference<>();
    private final AtomicReference<@Nullable Thread> failedOn = new AtomicReference<>();
    private volatile boolean inTheCall;
    private volatile boolean handledInTheCall;

    private @Nullable TestServer server;

    /** Stands before the limit and notes where the request came from. */
    private final WebFilter arrival = (exchange, chain) -> {
        Mono<Void> rest = chain.filter(exchange);
        return Mono.from((Subscriber<? super Void> response) -> {
                    arrivedOn.set(Thread.currentThread());
                    inTheCall = true;
                    rest.subscribe(response);
                    inTheCall = false;
                })
                .contextWrite(context -> context.put("trace", "t-1"));
    };

    private final WebExceptionHandler noteError = (exchange, error) -> {
        failedOn.set(Thread.currentThread());
        return Mono.error(error);
    };

    @AfterEach
    void stop() {
        if (server != null) {
            server.close();
        }
        storeThread.dispose();
        memory.close().block();
    }

    private RouterFunction<ServerResponse> routes() {
        return route(GET("/"), this::handle)
                .andRoute(GET("/broken"), request -> Mono.error(new IllegalStateException("broken handler")))
                .andRoute(
                        POST("/echo"),
                        request -> handle(request)
                                .then(ServerResponse.ok()
                                        .body(request.body(BodyExtractors.toDataBuffers()), DataBuffer.class)));
    }

    private Mono<ServerResponse> handle(ServerRequest request) {
        return Mono.deferContextual(context -> {
            handled.incrementAndGet();
            handledOn.set(Thread.currentThread());
            handledInTheCall = inTheCall;
            return ServerResponse.ok().bodyValue(String.valueOf(context.<String>getOrDefault("trace", "no trace")));
        });
    }

    private static Admission.Builder<ServerWebExchange> over(Store store) {
        return Admission.<ServerWebExchange>builder(Limiter.builder(FixedWindow.of(2, Duration.ofHours(1)))
                        .store(store)
                        .build())
                .key(exchange -> "everyone")
                .failMode(FailMode.CLOSED);
    }

    private TestServer serve(Admission.Builder<ServerWebExchange> admission) {
        TestServer started = TestServer.start(routes(), noteError, arrival, RateLimitWebFilter.of(admission.build()));
        server = started;
        return started;
    }

    @Test
    void letsTheLimitThroughAndDeniesTheRest() throws Exception {
        TestServer server = serve(over(memory).policy("hourly"));

        HttpResponse<String> first = server.get("/");
        HttpResponse<String> second = server.get("/");
        HttpResponse<String> third = server.get("/");

        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(field(first, "RateLimit-Policy")).isEqualTo("\"hourly\";q=2;w=3600");
        assertThat(field(first, "RateLimit")).startsWith("\"hourly\";r=1;t=");
        assertThat(field(second, "RateLimit")).startsWith("\"hourly\";r=0;t=");
        assertThat(second.headers().firstValue("Retry-After")).isEmpty();
        assertThat(third.statusCode()).isEqualTo(429);
        assertThat(field(third, "RateLimit-Policy")).isEqualTo("\"hourly\";q=2;w=3600");
        assertThat(field(third, "RateLimit")).isEqualTo("\"hourly\";r=0;t=" + field(third, "Retry-After"));
        assertThat(field(third, "Content-Type")).isEqualTo("application/problem+json");
        assertThat(field(third, "Cache-Control")).isEqualTo("no-store");
        assertThat(third.body()).contains("#quota-exceeded\"", "\"violated-policies\":[\"hourly\"]");
        assertThat(handled).hasValue(2);
    }

    @Test
    void countsEachKeyByItself() throws Exception {
        TestServer server = serve(
                over(memory).key(exchange -> exchange.getRequest().getHeaders().getFirst("X-Api-Key")));

        server.send(server.request("/").header("X-Api-Key", "a"));
        server.send(server.request("/").header("X-Api-Key", "a"));
        HttpResponse<String> a = server.send(server.request("/").header("X-Api-Key", "a"));
        HttpResponse<String> b = server.send(server.request("/").header("X-Api-Key", "b"));

        assertThat(a.statusCode()).isEqualTo(429);
        assertThat(b.statusCode()).isEqualTo(200);
    }

    @Test
    void writesItsHeadersOnErrorsAndUnknownPathsToo() throws Exception {
        TestServer server = serve(over(memory));

        HttpResponse<String> unknown = server.get("/nowhere");
        HttpResponse<String> broken = server.get("/broken");

        assertThat(unknown.statusCode()).isEqualTo(404);
        assertThat(field(unknown, "RateLimit")).startsWith("\"default\";r=1;t=");
        assertThat(broken.statusCode()).isEqualTo(500);
        assertThat(field(broken, "RateLimit")).startsWith("\"default\";r=0;t=");
    }

    @Test
    void listsTheLimitsOfTwoFilters() throws Exception {
        server = TestServer.start(
                routes(),
                noteError,
                RateLimitWebFilter.of(over(memory).policy("one").build()),
                RateLimitWebFilter.of(over(MemoryStore.create()).policy("two").build()));

        HttpResponse<String> response = server.get("/");

        assertThat(response.headers().allValues("RateLimit-Policy"))
                .containsExactlyInAnyOrder("\"one\";q=2;w=3600", "\"two\";q=2;w=3600");
    }

    @Test
    void staysInTheCallWhenTheCheckAnswersAtOnce() throws Exception {
        TestServer server = serve(over(memory));

        server.get("/");

        assertThat(handledInTheCall).isTrue();
        assertThat(handledOn.get()).isSameAs(arrivedOn.get());
    }

    @Test
    void comesBackToTheEventLoopOfTheRequestAfterALateAnswer() throws Exception {
        TestServer server = serve(over(late));

        HttpResponse<String> response = server.get("/");

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(field(response, "RateLimit")).startsWith("\"default\";r=1;t=");
        assertThat(handled).hasValue(1);
        assertThat(handledInTheCall).isFalse();
        assertThat(handledOn.get())
                .isSameAs(arrivedOn.get())
                .satisfies(thread -> assertThat(nameOf(thread)).startsWith("reactor-http"));
    }

    @Test
    void keepsTheReactorContextAfterALateAnswer() throws Exception {
        TestServer server = serve(over(late));

        HttpResponse<String> response = server.get("/");

        assertThat(response.body()).isEqualTo("t-1");
    }

    @Test
    void leavesTheBodyToTheHandlerAfterALateAnswer() throws Exception {
        TestServer server = serve(over(late));
        String body = "x".repeat(FIVE_MEGABYTES);

        HttpResponse<String> response = server.post("/echo", body.getBytes(StandardCharsets.US_ASCII));

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).isEqualTo(body);
    }

    @Test
    void deniesAnUnreadBodyAndServesTheNextRequest() throws Exception {
        TestServer server =
                serve(over(late).key(exchange -> exchange.getRequest().getPath().value()));
        byte[] body = new byte[FIVE_MEGABYTES];
        Arrays.fill(body, (byte) 'x');
        server.post("/echo", body);
        server.post("/echo", body);

        HttpResponse<String> denied = server.post("/echo", body);
        HttpResponse<String> next = server.get("/");

        assertThat(denied.statusCode()).isEqualTo(429);
        assertThat(next.statusCode()).isEqualTo(200);
    }

    @Test
    void refusesWith503WhenClosedAndTheStoreIsDown() throws Exception {
        TestServer server = serve(over(new GatedStore(memory, DOWN)).failMode(FailMode.CLOSED));

        HttpResponse<String> response = server.get("/");

        assertThat(response.statusCode()).isEqualTo(503);
        assertThat(field(response, "Retry-After")).isEqualTo("1");
        assertThat(response.headers().firstValue("RateLimit")).isEmpty();
        assertThat(response.body()).contains("#temporary-reduced-capacity\"");
        assertThat(handled).hasValue(0);
    }

    @Test
    void passesWhenOpenAndTheStoreIsDown() throws Exception {
        TestServer server = serve(over(new GatedStore(memory, DOWN)).failMode(FailMode.OPEN));

        HttpResponse<String> response = server.get("/");

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("RateLimit")).isEmpty();
    }

    @Test
    void isAnErrorWhenTheKeyFunctionFailsAlsoWhenOpen() throws Exception {
        Mono<String> fails = Mono.<String>error(new IllegalStateException("no principal"))
                .delaySubscription(Duration.ofMillis(10), storeThread);
        TestServer server = serve(over(memory).keyMono(exchange -> fails).failMode(FailMode.OPEN));

        HttpResponse<String> response = server.get("/");

        assertThat(response.statusCode()).isEqualTo(500);
        assertThat(handled).hasValue(0);
        assertThat(failedOn.get()).isNotNull().isSameAs(arrivedOn.get());
    }

    @Test
    void cancelsTheCheckWhenTheClientLeaves() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch cancelled = new CountDownLatch(1);
        Mono<Void> hangs =
                Mono.<Void>never().doOnSubscribe(s -> asked.countDown()).doOnCancel(cancelled::countDown);
        TestServer server = serve(over(new GatedStore(memory, hangs)));

        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            client.getOutputStream()
                    .write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(asked.await(5, TimeUnit.SECONDS)).isTrue();
        }

        assertThat(cancelled.await(5, TimeUnit.SECONDS)).isTrue();
        assertThat(handled).hasValue(0);
    }

    @Test
    void hasTheLastWordBehindAnotherLimit() throws Exception {
        RateLimitHeaders triple = RateLimitHeaders.of(RateLimitHeaders.Family.RATE_LIMIT_TRIPLE);
        server = TestServer.start(
                routes(),
                noteError,
                RateLimitWebFilter.of(over(memory).headers(triple).build()),
                RateLimitWebFilter.of(over(MemoryStore.create())
                        .headers(triple)
                        .cost(exchange -> 3)
                        .build()));

        HttpResponse<String> denied = server.get("/");

        assertThat(denied.statusCode()).isEqualTo(429);
        assertThat(denied.headers().allValues("RateLimit-Remaining")).containsExactly("2");
    }

    @Test
    void answersToSpringsOwnClient() {
        TestServer server = serve(over(late));
        WebClient client = WebClient.create("http://127.0.0.1:" + server.port());

        List<Integer> statuses = Flux.range(0, 3)
                .concatMap(i -> client.get()
                        .uri("/")
                        .exchangeToMono(response -> response.releaseBody()
                                .thenReturn(response.statusCode().value())))
                .collectList()
                .block(Duration.ofSeconds(10));

        assertThat(statuses).containsExactly(200, 200, 429);
    }

    @Test
    void runsTheChainOnceHoweverTheCheckEnds() {
        List<Admission.Builder<ServerWebExchange>> passes = List.of(
                over(memory),
                over(late),
                over(new GatedStore(memory, DOWN)).failMode(FailMode.OPEN),
                over(memory).key(exchange -> null).onMissingKey(MissingKey.unlimited()),
                over(memory).keyMono(exchange -> Mono.empty()).onMissingKey(MissingKey.unlimited()),
                over(memory).skip(exchange -> true),
                over(memory).when(exchange -> false));

        for (Admission.Builder<ServerWebExchange> admission : passes) {
            AtomicInteger runs = new AtomicInteger();
            MockServerWebExchange exchange = MockServerWebExchange.from(MockServerHttpRequest.get("/"));

            Mono<Void> response = RateLimitWebFilter.of(admission.build()).filter(exchange, rest -> {
                runs.incrementAndGet();
                return Mono.empty();
            });

            StepVerifier.create(response).expectComplete().verify(Duration.ofSeconds(5));
            assertThat(runs).hasValue(1);
        }
    }

    @Test
    void givesAnErrorOfTheChainOn() {
        AtomicInteger runs = new AtomicInteger();
        StoreUnavailableException ofTheApplication =
                new StoreUnavailableException(Reason.DISCONNECTED, false, "another limit, within the chain", null);
        MockServerWebExchange exchange = MockServerWebExchange.from(MockServerHttpRequest.get("/"));

        Mono<Void> response = RateLimitWebFilter.of(
                        over(memory).failMode(FailMode.OPEN).build())
                .filter(exchange, rest -> {
                    runs.incrementAndGet();
                    return Mono.error(ofTheApplication);
                });

        StepVerifier.create(response)
                .expectErrorSatisfies(error -> assertThat(error).isSameAs(ofTheApplication))
                .verify(Duration.ofSeconds(5));
        assertThat(runs).hasValue(1);
    }

    @Test
    void leavesACommittedResponseAloneOnARealServer() throws Exception {
        // Answers before it asks the rest of the chain, whose refusal comes too late then.
        WebFilter hasty = (exchange, chain) -> {
            exchange.getResponse().setStatusCode(HttpStatus.ACCEPTED);
            return exchange.getResponse().setComplete().then(chain.filter(exchange));
        };
        server = TestServer.start(
                routes(),
                noteError,
                hasty,
                RateLimitWebFilter.of(over(late).cost(exchange -> 3).build()));

        HttpResponse<String> response = server.get("/");

        assertThat(response.statusCode()).isEqualTo(202);
        assertThat(failedOn.get()).isNull();
        assertThat(handled).hasValue(0);
    }

    @Test
    void goesOnOnTheParallelSchedulerWhereThereIsNoNetty() {
        RateLimitWebFilter filter = RateLimitWebFilter.of(over(late).build());
        MockServerWebExchange exchange = MockServerWebExchange.from(MockServerHttpRequest.get("/"));

        Mono<Void> response =
                filter.filter(exchange, rest -> Mono.fromRunnable(() -> handledOn.set(Thread.currentThread())));

        StepVerifier.create(response).expectComplete().verify(Duration.ofSeconds(5));
        assertThat(nameOf(handledOn.get())).startsWith("parallel-");
    }

    @Test
    void leavesACommittedResponseAlone() {
        RateLimitWebFilter filter =
                RateLimitWebFilter.of(over(new GatedStore(memory, DOWN)).build());
        MockServerWebExchange exchange = MockServerWebExchange.from(MockServerHttpRequest.get("/"));
        exchange.getResponse().setStatusCode(HttpStatus.ACCEPTED);

        Mono<Void> response = exchange.getResponse().setComplete().then(filter.filter(exchange, rest -> Mono.never()));

        StepVerifier.create(response).verifyComplete();
        assertThat(exchange.getResponse().getStatusCode()).isEqualTo(HttpStatus.ACCEPTED);
    }

    @Test
    void standsBeforeSpringSecurityUnlessToldOtherwise() {
        RateLimitWebFilter filter = RateLimitWebFilter.of(over(memory).build());

        RateLimitWebFilter behind = filter.withOrder(0);

        assertThat(filter.getOrder()).isLessThan(-100);
        assertThat(behind.getOrder()).isZero();
    }

    private static String field(HttpResponse<?> response, String name) {
        return response.headers().firstValue(name).orElse("");
    }

    private static String nameOf(@Nullable Thread thread) {
        return thread == null ? "no thread" : thread.getName();
    }
}
