package io.throttlekit.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.FailMode;
import io.throttlekit.Store;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.conformance.GatedStore;
import io.throttlekit.http.Admission;
import io.throttlekit.http.ClientAddress;
import io.throttlekit.http.Key;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.FixedWindow;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.PoolOptions;
import io.vertx.ext.web.AllowForwardHeaders;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.client.HttpResponse;
import io.vertx.ext.web.client.WebClient;
import io.vertx.ext.web.client.WebClientOptions;
import io.vertx.ext.web.handler.BodyHandler;
import io.vertx.ext.web.handler.TimeoutHandler;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

class RateLimitHandlerTest {
    private static final int FIVE_MEGABYTES = 5 << 20;
    private static final Mono<Void> DOWN =
            Mono.error(() -> new StoreUnavailableException(Reason.DISCONNECTED, false, "no connection", null));

    private final Vertx vertx = Vertx.vertx();
    private final WebClient client =
            WebClient.create(vertx, new WebClientOptions(), new PoolOptions().setHttp1MaxSize(1));
    private final MemoryStore memory = MemoryStore.create();
    private final Scheduler storeThread = Schedulers.newSingle("store");
    private final Store late = new GatedStore(
            memory, Mono.delay(Duration.ofMillis(50), storeThread).then());

    private final AtomicInteger handled = new AtomicInteger();
    private final AtomicReference<@Nullable Context> arrivedIn = new AtomicReference<>();
    private final AtomicReference<@Nullable Context> handledIn = new AtomicReference<>();
    private volatile boolean inTheCall;
    private volatile boolean handledInTheCall;
    private int port;

    @AfterEach
    void stop() {
        await(vertx.close().map("closed"));
        storeThread.dispose();
        memory.close().block();
    }

    private static Admission.Builder<RoutingContext> over(Store store) {
        return Admission.<RoutingContext>builder(Limiter.builder(FixedWindow.of(2, Duration.ofHours(1)))
                        .store(store)
                        .build())
                .key(routing -> "everyone")
                .failMode(FailMode.CLOSED);
    }

    private static RateLimitHandler limit(Admission.Builder<RoutingContext> admission) {
        return RateLimitHandler.create(admission.build());
    }

    private Router router(Handler<RoutingContext> limit) {
        Router router = Router.router(vertx);
        router.route().handler(routing -> {
            arrivedIn.set(Vertx.currentContext());
            inTheCall = true;
            routing.next();
            inTheCall = false;
        });
        router.route().handler(limit);
        router.get("/").handler(routing -> {
            note();
            routing.end("hello");
        });
        router.get("/broken").handler(routing -> {
            throw new IllegalStateException("broken handler");
        });
        router.post("/echo").handler(BodyHandler.create()).handler(routing -> {
            note();
            routing.end(
                    routing.body().buffer() == null
                            ? Buffer.buffer()
                            : routing.body().buffer());
        });
        return router;
    }

    private void note() {
        handled.incrementAndGet();
        handledIn.set(Vertx.currentContext());
        handledInTheCall = inTheCall;
    }

    private void serve(Router router) {
        HttpServer server =
                await(vertx.createHttpServer().requestHandler(router).listen(0, "127.0.0.1"));
        port = server.actualPort();
    }

    private HttpResponse<Buffer> get(String path) {
        return await(client.get(port, "127.0.0.1", path).send());
    }

    private HttpResponse<Buffer> post(String path, Buffer body) {
        return await(client.post(port, "127.0.0.1", path).sendBuffer(body));
    }

    private static <T> T await(Future<T> future) {
        return Mono.fromCompletionStage(future.toCompletionStage())
                .blockOptional(Duration.ofSeconds(10))
                .orElseThrow();
    }

    @Test
    void letsTheLimitThroughAndDeniesTheRest() {
        serve(router(limit(over(memory).policy("hourly"))));

        HttpResponse<Buffer> first = get("/");
        HttpResponse<Buffer> second = get("/");
        HttpResponse<Buffer> third = get("/");

        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(first.getHeader("RateLimit-Policy")).isEqualTo("\"hourly\";q=2;w=3600");
        assertThat(first.getHeader("RateLimit")).startsWith("\"hourly\";r=1;t=");
        assertThat(second.getHeader("RateLimit")).startsWith("\"hourly\";r=0;t=");
        assertThat(second.getHeader("Retry-After")).isNull();
        assertThat(third.statusCode()).isEqualTo(429);
        assertThat(third.getHeader("RateLimit-Policy")).isEqualTo("\"hourly\";q=2;w=3600");
        assertThat(third.getHeader("RateLimit")).isEqualTo("\"hourly\";r=0;t=" + third.getHeader("Retry-After"));
        assertThat(third.getHeader("Content-Type")).isEqualTo("application/problem+json");
        assertThat(third.getHeader("Cache-Control")).isEqualTo("no-store");
        assertThat(third.bodyAsString()).contains("#quota-exceeded\"", "\"violated-policies\":[\"hourly\"]");
        assertThat(handled).hasValue(2);
    }

    @Test
    void writesItsHeadersOnErrorsAndUnknownPathsToo() {
        serve(router(limit(over(memory))));

        HttpResponse<Buffer> unknown = get("/nowhere");
        HttpResponse<Buffer> broken = get("/broken");

        assertThat(unknown.statusCode()).isEqualTo(404);
        assertThat(unknown.getHeader("RateLimit")).startsWith("\"default\";r=1;t=");
        assertThat(broken.statusCode()).isEqualTo(500);
        assertThat(broken.getHeader("RateLimit")).startsWith("\"default\";r=0;t=");
    }

    @Test
    void answersToAClientThatIsNotVertx() throws Exception {
        serve(router(limit(over(late))));
        HttpClient java = HttpClient.newHttpClient();
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/"))
                .timeout(Duration.ofSeconds(10))
                .build();

        java.send(request, BodyHandlers.ofString());
        java.net.http.HttpResponse<String> second = java.send(request, BodyHandlers.ofString());
        java.net.http.HttpResponse<String> third = java.send(request, BodyHandlers.ofString());

        assertThat(second.statusCode()).isEqualTo(200);
        assertThat(second.body()).isEqualTo("hello");
        assertThat(third.statusCode()).isEqualTo(429);
        assertThat(third.headers().firstValue("Retry-After")).isPresent();
    }

    @Test
    void staysInTheCallWhenTheCheckAnswersAtOnce() {
        serve(router(limit(over(memory))));

        get("/");

        assertThat(handledInTheCall).isTrue();
        assertThat(handledIn.get()).isSameAs(arrivedIn.get());
    }

    @Test
    void comesBackToTheContextOfTheRequestAfterALateAnswer() {
        serve(router(limit(over(late))));

        HttpResponse<Buffer> response = get("/");

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.getHeader("RateLimit")).startsWith("\"default\";r=1;t=");
        assertThat(handled).hasValue(1);
        assertThat(handledInTheCall).isFalse();
        assertThat(handledIn.get()).isNotNull().isSameAs(arrivedIn.get());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 10, FIVE_MEGABYTES})
    void leavesTheBodyToTheBodyHandlerAfterALateAnswer(int size) {
        serve(router(limit(over(late))));
        Buffer body = Buffer.buffer("x".repeat(size));

        HttpResponse<Buffer> first = post("/echo", body);
        HttpResponse<Buffer> second = post("/echo", body);

        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(second.statusCode()).isEqualTo(200);
        assertThat(second.bodyAsString()).isEqualTo(size == 0 ? null : body.toString());
    }

    @Test
    void standsBehindTheBodyHandlerAndTwiceOnOneRoute() {
        Router router = Router.router(vertx);
        RateLimitHandler limit = limit(over(late).key(RoutingContext::normalizedPath));
        router.route("/behind")
                .handler(BodyHandler.create())
                .handler(routing -> limit.handle(routing))
                .handler(routing -> routing.end(routing.body().buffer()));
        router.route("/twice")
                .handler(limit)
                .handler(limit)
                .handler(BodyHandler.create())
                .handler(routing -> routing.end(routing.body().buffer()));
        serve(router);
        Buffer body = Buffer.buffer("x".repeat(100_000));

        HttpResponse<Buffer> behind = post("/behind", body);
        HttpResponse<Buffer> twice = post("/twice", body);
        HttpResponse<Buffer> denied = post("/twice", body);

        assertThat(behind.body()).isEqualTo(body);
        assertThat(twice.body()).isEqualTo(body);
        assertThat(twice.headers().getAll("RateLimit")).hasSize(2);
        assertThat(denied.statusCode()).isEqualTo(429);
    }

    @Test
    void deniesAnUnreadBodyAndServesTheNextRequest() {
        serve(router(limit(over(late).key(RoutingContext::normalizedPath))));
        Buffer body = Buffer.buffer("x".repeat(FIVE_MEGABYTES));
        post("/echo", body);
        post("/echo", body);

        HttpResponse<Buffer> denied = post("/echo", body);
        HttpResponse<Buffer> next = get("/");

        assertThat(denied.statusCode()).isEqualTo(429);
        assertThat(next.statusCode()).isEqualTo(200);
    }

    @Test
    void refusesWith503WhenClosedAndTheStoreIsDown() {
        serve(router(limit(over(new GatedStore(memory, DOWN)).failMode(FailMode.CLOSED))));

        HttpResponse<Buffer> response = get("/");

        assertThat(response.statusCode()).isEqualTo(503);
        assertThat(response.getHeader("Retry-After")).isEqualTo("1");
        assertThat(response.getHeader("RateLimit")).isNull();
        assertThat(response.bodyAsString()).contains("#temporary-reduced-capacity\"");
        assertThat(handled).hasValue(0);
    }

    @Test
    void passesWhenOpenAndTheStoreIsDown() {
        serve(router(limit(over(new GatedStore(memory, DOWN)).failMode(FailMode.OPEN))));

        HttpResponse<Buffer> response = get("/");

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.getHeader("RateLimit")).isNull();
    }

    @Test
    void failsTheRequestWhenAKeyThatIsKnownAtOnceFails() {
        Router router = router(limit(over(memory).key(routing -> {
            throw new IllegalStateException("no tenant");
        })));
        router.errorHandler(
                500,
                routing -> routing.response()
                        .setStatusCode(500)
                        .end(routing.failure().getMessage()));
        serve(router);

        HttpResponse<Buffer> response = get("/");

        assertThat(response.bodyAsString()).isEqualTo("no tenant");
        assertThat(handled).hasValue(0);
    }

    @ParameterizedTest
    @EnumSource(AllowForwardHeaders.class)
    void takesTheAddressThatTheRouterAllowsToBeForwarded(AllowForwardHeaders allowed) {
        Router router = router(limit(over(memory).key(Key.address(ClientAddress.ofPeer()))));
        router.allowForward(allowed);
        serve(router);
        Limiter same = Limiter.builder(FixedWindow.of(2, Duration.ofHours(1)))
                .store(memory)
                .build();

        await(client.get(port, "127.0.0.1", "/").send());
        await(client.get(port, "127.0.0.1", "/")
                .putHeader("X-Forwarded-For", "192.0.2.1")
                .send());
        await(client.get(port, "127.0.0.1", "/")
                .putHeader("Forwarded", "for=192.0.2.2")
                .send());

        boolean x = allowed == AllowForwardHeaders.ALL || allowed == AllowForwardHeaders.X_FORWARD;
        boolean standard = allowed == AllowForwardHeaders.ALL || allowed == AllowForwardHeaders.FORWARD;
        assertThat(same.peekSync("192.0.2.1").remaining()).isEqualTo(x ? 1 : 2);
        assertThat(same.peekSync("192.0.2.2").remaining()).isEqualTo(standard ? 1 : 2);
    }

    @Test
    void failsTheRequestWhenTheKeyFunctionFailsAlsoWhenOpen() {
        AtomicReference<@Nullable Context> failedIn = new AtomicReference<>();
        Mono<String> fails = Mono.<String>error(new IllegalStateException("no principal"))
                .delaySubscription(Duration.ofMillis(10), storeThread);
        Router router = router(limit(over(memory).keyMono(routing -> fails).failMode(FailMode.OPEN)));
        router.errorHandler(500, routing -> {
            failedIn.set(Vertx.currentContext());
            routing.response().setStatusCode(500).end(routing.failure().getMessage());
        });
        serve(router);

        HttpResponse<Buffer> response = get("/");

        assertThat(response.statusCode()).isEqualTo(500);
        assertThat(response.bodyAsString()).isEqualTo("no principal");
        assertThat(failedIn.get()).isNotNull().isSameAs(arrivedIn.get());
        assertThat(handled).hasValue(0);
    }

    @Test
    void cancelsTheCheckWhenTheClientLeaves() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch cancelled = new CountDownLatch(1);
        Mono<Void> hangs =
                Mono.<Void>never().doOnSubscribe(s -> asked.countDown()).doOnCancel(cancelled::countDown);
        serve(router(limit(over(new GatedStore(memory, hangs)))));

        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), port)) {
            client.getOutputStream()
                    .write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(asked.await(5, TimeUnit.SECONDS)).isTrue();
        }

        assertThat(cancelled.await(5, TimeUnit.SECONDS)).isTrue();
        assertThat(handled).hasValue(0);
    }

    @Test
    void leavesAResponseToTheTimeoutThatEndedItAndTheConnectionUsable() throws Exception {
        CountDownLatch cancelled = new CountDownLatch(1);
        Mono<Void> hangs = Mono.<Void>never().doOnCancel(cancelled::countDown);
        Router router = Router.router(vertx);
        router.post("/hangs")
                .handler(TimeoutHandler.create(100))
                .handler(limit(over(new GatedStore(memory, hangs))))
                .handler(routing -> routing.end("too late"));
        router.get("/").handler(routing -> routing.end("hello"));
        serve(router);

        HttpResponse<Buffer> timedOut = post("/hangs", Buffer.buffer("x".repeat(FIVE_MEGABYTES)));
        HttpResponse<Buffer> next = get("/");

        assertThat(timedOut.statusCode()).isEqualTo(503);
        assertThat(cancelled.await(5, TimeUnit.SECONDS)).isTrue();
        assertThat(next.statusCode()).isEqualTo(200);
    }

    @Test
    void servesARequestThatHasNoBodyToPause() {
        serve(router(limit(over(late))));

        HttpResponse<Buffer> response = await(
                client.request(HttpMethod.HEAD, port, "127.0.0.1", "/nowhere").send());

        assertThat(response.statusCode()).isEqualTo(404);
    }
}
