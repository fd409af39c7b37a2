package io.throttlekit.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.FailMode;
import io.throttlekit.concurrency.AdaptiveConcurrency;
import io.throttlekit.concurrency.ConcurrencyGuard;
import io.throttlekit.concurrency.Lease;
import io.throttlekit.conformance.Overload;
import io.throttlekit.http.Admission;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.strategy.FixedWindow;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.PoolOptions;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.client.HttpResponse;
import io.vertx.ext.web.client.WebClient;
import io.vertx.ext.web.client.WebClientOptions;
import io.vertx.ext.web.handler.BodyHandler;
import io.vertx.ext.web.handler.TimeoutHandler;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class ConcurrencyHandlerTest {
    private final Vertx vertx = Vertx.vertx();
    private final WebClient client =
            WebClient.create(vertx, new WebClientOptions(), new PoolOptions().setHttp1MaxSize(500));
    private final Router router = Router.router(vertx);
    private final AtomicInteger handled = new AtomicInteger();
    private int port;

    @AfterEach
    void stop() {
        await(vertx.close().map("closed"));
    }

    private static <T> T await(Future<T> future) {
        return Mono.fromCompletionStage(future.toCompletionStage())
                .blockOptional(Duration.ofSeconds(10))
                .orElseThrow();
    }

    private static ConcurrencyGuard guard(int limit) {
        return AdaptiveConcurrency.gradient2().minLimit(1).initialLimit(limit).build();
    }

    private void serve() {
        router.get("/").handler(routing -> {
            handled.incrementAndGet();
            routing.end("hello");
        });
        router.post("/").handler(BodyHandler.create()).handler(routing -> {
            handled.incrementAndGet();
            routing.end("read " + routing.body().length());
        });
        HttpServer server =
                await(vertx.createHttpServer().requestHandler(router).listen(0, "127.0.0.1"));
        port = server.actualPort();
    }

    private HttpResponse<Buffer> get(String path) {
        return await(client.get(port, "127.0.0.1", path).send());
    }

    private HttpResponse<Buffer> post(String path, int size) {
        return await(client.post(port, "127.0.0.1", path).sendBuffer(Buffer.buffer(new byte[size])));
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
    void refusesWhatIsAboveTheLimitBeforeTheBodyIsRead() {
        ConcurrencyGuard guard = guard(1);
        router.route().handler(ConcurrencyHandler.create(guard).withRetryAfter(Duration.ofMillis(1500)));
        serve();

        Lease held = guard.acquire();
        HttpResponse<Buffer> refused = post("/", 5 << 20);
        held.cancel();
        HttpResponse<Buffer> next = post("/", 5 << 20);

        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(refused.getHeader("Retry-After")).isEqualTo("2");
        assertThat(refused.getHeader("Content-Type")).isEqualTo("application/problem+json");
        assertThat(refused.getHeader("Cache-Control")).isEqualTo("no-store");
        assertThat(refused.bodyAsString()).contains("#temporary-reduced-capacity\"", "\"status\":503");
        assertThat(next.bodyAsString()).isEqualTo("read " + (5 << 20));
        assertThat(handled).hasValue(1);
        awaitIdle(guard);
    }

    @Test
    void doesNotSeeWhatIsSkipped() {
        ConcurrencyGuard guard = guard(1);
        router.route()
                .handler(ConcurrencyHandler.create(guard)
                        .withSkip(routing -> routing.request().method().name().equals("GET")));
        serve();

        Lease held = guard.acquire();
        HttpResponse<Buffer> skipped = get("/");
        HttpResponse<Buffer> refused = post("/", 1);
        held.cancel();

        assertThat(skipped.statusCode()).isEqualTo(200);
        assertThat(refused.statusCode()).isEqualTo(503);
        awaitIdle(guard);
    }

    @Test
    void standsBehindARateLimitOnOneRoute() {
        ConcurrencyGuard guard = guard(1);
        router.route()
                .handler(RateLimitHandler.create(
                        Admission.<RoutingContext>builder(Limiter.of(FixedWindow.of(2, Duration.ofHours(1))))
                                .key(routing -> "everyone")
                                .failMode(FailMode.CLOSED)
                                .build()))
                .handler(ConcurrencyHandler.create(guard));
        serve();

        HttpResponse<Buffer> served = get("/");
        awaitIdle(guard);
        Lease held = guard.acquire();
        HttpResponse<Buffer> shed = get("/");
        HttpResponse<Buffer> limited = get("/");
        held.cancel();

        assertThat(served.statusCode()).isEqualTo(200);
        assertThat(shed.statusCode()).isEqualTo(503);
        assertThat(shed.getHeader("RateLimit")).isNotNull();
        assertThat(limited.statusCode()).isEqualTo(429);
    }

    @Test
    void freesThePlaceOfAClientThatLeaves() throws Exception {
        ConcurrencyGuard guard = guard(1);
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch left = new CountDownLatch(1);
        router.route().handler(ConcurrencyHandler.create(guard));
        router.get("/hangs").handler(routing -> {
            routing.addEndHandler(ended -> left.countDown());
            reached.countDown();
        });
        serve();

        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream()
                    .write("GET /hangs HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(reached.await(5, TimeUnit.SECONDS)).isTrue();
            assertThat(guard.inFlight()).isEqualTo(1);
        }

        assertThat(left.await(5, TimeUnit.SECONDS)).isTrue();
        assertThat(get("/").statusCode()).isEqualTo(200);
        assertThat(guard.limit()).isEqualTo(1);
    }

    @Test
    void countsTimeoutsAsDropsAndOtherFailuresAsNothing() {
        ConcurrencyGuard guard = guard(100);
        router.route().handler(ConcurrencyHandler.create(guard));
        router.get("/broken").handler(routing -> {
            throw new IllegalStateException("broken handler");
        });
        router.get("/late").handler(routing -> routing.fail(new TimeoutException()));
        router.get("/hangs").handler(TimeoutHandler.create(50, 504)).handler(routing -> {});
        serve();

        int broken = get("/broken").statusCode();
        int unknown = get("/nowhere").statusCode();
        awaitIdle(guard);
        int afterErrors = guard.limit();
        get("/late");
        int hangs = get("/hangs").statusCode();
        awaitIdle(guard);

        assertThat(List.of(broken, unknown, hangs)).containsExactly(500, 404, 504);
        assertThat(afterErrors).isEqualTo(100);
        assertThat(guard.stats().dropped()).isEqualTo(2);
        assertThat(guard.limit()).isLessThan(100);
    }

    @Test
    void servesAnOverloadedEndpointAsWellAsTheBestFixedLimit() {
        Map<String, ConcurrencyGuard> guards = Overload.guards();
        List<Overload.Backend> backends = new ArrayList<>();
        guards.forEach((path, guard) -> {
            Overload.Backend backend = new Overload.Backend();
            backends.add(backend);
            router.get("/" + path).handler(ConcurrencyHandler.create(guard)).handler(routing -> {
                Context context = vertx.getOrCreateContext();
                backend.work().subscribe(done -> context.runOnContext(ignored -> routing.end(done)));
            });
        });
        serve();

        Map<String, Overload.Served> served = Overload.run(
                guards.keySet(),
                path -> Mono.fromCompletionStage(() -> client.get(port, "127.0.0.1", "/" + path)
                        .send()
                        .map(HttpResponse::statusCode)
                        .toCompletionStage()));

        Overload.Served adaptive = Objects.requireNonNull(served.get(Overload.ADAPTIVE));
        Overload.Served unguarded = Objects.requireNonNull(served.get(Overload.UNGUARDED));
        int best =
                served.values().stream().mapToInt(Overload.Served::count).max().orElseThrow();
        assertThat(adaptive.count()).as(served.toString()).isGreaterThanOrEqualTo((int) (0.9 * best));
        assertThat(adaptive.percentile(99)).as(served.toString()).isLessThan(unguarded.percentile(50));
        backends.forEach(Overload.Backend::stop);
    }
}
