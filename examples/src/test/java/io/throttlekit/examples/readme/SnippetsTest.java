package io.throttlekit.examples.readme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.web.reactive.function.server.RequestPredicates.GET;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.throttlekit.Decision;
import io.throttlekit.FailMode;
import io.throttlekit.ManualClock;
import io.throttlekit.QueueFullException;
import io.throttlekit.RateLimitExceededException;
import io.throttlekit.StateCodec;
import io.throttlekit.Store;
import io.throttlekit.Strategy;
import io.throttlekit.Strategy.Verdict;
import io.throttlekit.Transform;
import io.throttlekit.concurrency.AdaptiveConcurrency;
import io.throttlekit.concurrency.ConcurrencyGuard;
import io.throttlekit.concurrency.ConcurrencyLimitException;
import io.throttlekit.concurrency.ConcurrencyMetrics;
import io.throttlekit.http.Admission;
import io.throttlekit.http.ClientAddress;
import io.throttlekit.http.Key;
import io.throttlekit.http.KeyHash;
import io.throttlekit.http.MissingKey;
import io.throttlekit.limiter.LeaseOptions;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.limiter.TwoTier;
import io.throttlekit.shaping.LeakyBucket;
import io.throttlekit.shaping.Shaper;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.vertx.ConcurrencyHandler;
import io.throttlekit.vertx.RateLimitHandler;
import io.throttlekit.webflux.ConcurrencyWebFilter;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.reactive.function.server.HandlerStrategies;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.test.StepVerifier;

/** The fragments of code in README, each in the middle of a test of what it does. */
class SnippetsTest {
    private final AtomicInteger calls = new AtomicInteger();

    private Mono<String> callUpstream() {
        return Mono.fromCallable(() -> "call " + calls.incrementAndGet());
    }

    private static void useUp(BooleanSupplier takesOne) {
        assertThat(Stream.generate(takesOne::getAsBoolean).limit(10_000)).contains(false);
    }

    private static <T> T await(Future<T> future) {
        return future.toCompletionStage().toCompletableFuture().join();
    }

    @Test
    void limitsAKey() {
        Limiter limiter = Limiter.of(Gcra.of(100, Duration.ofMinutes(1))); // in memory

        Mono<String> called = limiter.check("user-42") // Mono<Decision>; a denial is a value
                .filter(Decision::allowed)
                .flatMap(ok -> callUpstream());

        Mono<String> guarded =
                callUpstream().transform(limiter.guard("user-42")); // or an error: RateLimitExceededException

        Decision now = limiter.checkSync("user-42"); // for a store in this process

        assertThat(now.allowed()).isTrue();
        assertThat(now.remaining()).isEqualTo(99);
        StepVerifier.create(called).expectNext("call 1").verifyComplete();
        StepVerifier.create(guarded).expectNext("call 2").verifyComplete();
        useUp(() -> limiter.checkSync("user-42").allowed());
        StepVerifier.create(called).verifyComplete();
        StepVerifier.create(guarded).verifyError(RateLimitExceededException.class);
        assertThat(calls).hasValue(2);
        StepVerifier.create(limiter.close()).verifyComplete();
    }

    /** A store that tells which keys it was asked for. */
    private record Overheard(Store store, Queue<String> keys) implements Store {
        @Override
        public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
            keys.add(key);
            return store.apply(key, transform);
        }

        @Override
        public Mono<Void> reset(String key) {
            return store.reset(key);
        }

        @Override
        public Mono<Void> close() {
            return store.close();
        }
    }

    @Test
    void limitsAnAddressAndATenant() {
        Overheard store = new Overheard(MemoryStore.create(), new ConcurrentLinkedQueue<>());
        Limiter perMinute = Limiter.of(Gcra.of(3, Duration.ofMinutes(1)));
        Limiter perDay = Limiter.builder(FixedWindow.of(2, Duration.ofDays(3650)))
                .store(store)
                .build();
        byte[] secret = "sixteen bytes or more".getBytes(StandardCharsets.UTF_8);
        Admission<RoutingContext> admission = Admission.<RoutingContext>builder(perMinute)
                .policy("per-client")
                .key(Key.address(
                        ClientAddress.builder().trustProxies("10.0.0.0/8").build()))
                .and(perDay) // all must allow; a later denial gives back
                .policy("per-tenant")
                .key(Key.header("X-Tenant"))
                .onMissingKey(MissingKey.shared("no tenant"))
                .hashKeys(KeyHash.hmac(secret)) // the store sees no tenant
                .failMode(FailMode.OPEN)
                .build();
        Vertx vertx = Vertx.vertx();
        Router router = Router.router(vertx);
        router.get("/").handler(RateLimitHandler.create(admission)).handler(routing -> routing.end("hello\n"));
        int port = listen(vertx, router);

        List<HttpResponse<String>> responses = IntStream.range(0, 4)
                .mapToObj(i -> Http.get(port, "/", "X-Tenant", "acme"))
                .toList();
        HttpResponse<String> withoutTenant = Http.get(port, "/");

        assertThat(responses).extracting(HttpResponse::statusCode).containsExactly(200, 200, 429, 429);
        assertThat(responses.get(3).body()).contains("\"violated-policies\":[\"per-tenant\"]");
        assertThat(responses.get(0).headers().firstValue("RateLimit-Policy").orElseThrow())
                .contains("\"per-client\";q=3", "\"per-tenant\";q=2");
        assertThat(withoutTenant.statusCode())
                .as("what the denied did not take")
                .isEqualTo(200);
        assertThat(store.keys).isNotEmpty().noneMatch(key -> key.contains("acme"));
        await(vertx.close());
    }

    private static int listen(Vertx vertx, Router router) {
        HttpServer server =
                await(vertx.createHttpServer().requestHandler(router).listen(0, "127.0.0.1"));
        return server.actualPort();
    }

    /** Something in a stream that belongs to somebody. */
    record Event(String tenant, long size) {}

    @Test
    void limitsAStream() {
        Limiter limiter = Limiter.of(Gcra.of(3, Duration.ofHours(1)));
        Flux<Event> events = Flux.just(new Event("a", 1), new Event("b", 2), new Event("a", 1), new Event("b", 9));

        Flux<Event> some = events.transform(limiter.dropExcess(Event::tenant)); // drop what is above the limit
        Flux<Event> all =
                events.transform(limiter.failOnExcess(Event::tenant, Event::size)); // or fail at the first such element

        StepVerifier.create(all.map(Event::tenant)).expectNext("a", "b", "a").verifyError();
        StepVerifier.create(some.map(Event::tenant)).expectNext("a", "b").verifyComplete();
    }

    @Test
    void paces() {
        Flux<String> requests = Flux.just("a", "b", "c");
        Mono<String> call = callUpstream();

        Shaper shaper = LeakyBucket.of(5, Duration.ofSeconds(1))
                .maxQueue(Duration.ofSeconds(2))
                .build();

        Flux<String> paced =
                requests.transform(shaper.pace("upstream")); // one departure every 200 ms, order kept, no drift
        Mono<String> called = shaper.schedule("upstream").then(call); // one call in its turn, or QueueFullException

        StepVerifier.withVirtualTime(() -> paced)
                .expectNext("a")
                .expectNoEvent(Duration.ofMillis(200))
                .expectNext("b")
                .expectNoEvent(Duration.ofMillis(200))
                .expectNext("c")
                .verifyComplete();
        StepVerifier.create(called).expectNext("call 1").verifyComplete();
        useUp(() -> shaper.reserveSync("upstream").accepted());
        StepVerifier.create(called).verifyError(QueueFullException.class);
        assertThat(calls).hasValue(1);
    }

    @Test
    void boundsTheRequestsInFlight() {
        MeterRegistry meterRegistry = new SimpleMeterRegistry();

        ConcurrencyGuard guard =
                AdaptiveConcurrency.gradient2().minLimit(4).maxLimit(512).build();

        Mono<String> guarded = callUpstream().transform(guard.protect()); // or an error: ConcurrencyLimitException
        WebFilter filter = ConcurrencyWebFilter.of(guard); // in WebFlux: 503, Retry-After, problem+json
        ConcurrencyHandler handler = ConcurrencyHandler.create(guard); // the same in Vert.x
        ConcurrencyMetrics.of(guard, "orders").bindTo(meterRegistry);

        StepVerifier.create(guarded).expectNext("call 1").verifyComplete();
        useUp(() -> guard.acquire().ok());
        StepVerifier.create(guarded).verifyError(ConcurrencyLimitException.class);
        assertThat(meterRegistry.getMeters()).isNotEmpty();
        shedsInWebFlux(filter);
        shedsInVertx(handler);
    }

    private static void shedsInWebFlux(WebFilter filter) {
        DisposableServer server = reactor.netty.http.server.HttpServer.create()
                .host("127.0.0.1")
                .handle(new ReactorHttpHandlerAdapter(RouterFunctions.toHttpHandler(
                        RouterFunctions.route(
                                GET("/"), request -> ServerResponse.ok().build()),
                        HandlerStrategies.builder().webFilter(filter).build())))
                .bindNow();

        sheds(Http.get(server.port(), "/"));

        server.disposeNow();
    }

    private static void shedsInVertx(ConcurrencyHandler handler) {
        Vertx vertx = Vertx.vertx();
        Router router = Router.router(vertx);
        router.get("/").handler(handler).handler(routing -> routing.end());

        sheds(Http.get(listen(vertx, router), "/"));

        await(vertx.close());
    }

    private static void sheds(HttpResponse<String> response) {
        assertThat(response.statusCode()).isEqualTo(503);
        assertThat(response.headers().firstValue("Retry-After")).isPresent();
        assertThat(response.headers().firstValue("Content-Type").orElseThrow()).startsWith("application/problem+json");
    }

    /** Keeps an instant. */
    private static final StateCodec<Long> INSTANT = new StateCodec<>() {
        @Override
        public String kind() {
            return "instant";
        }

        @Override
        public byte[] encode(Long instant) {
            return ByteBuffer.allocate(Long.BYTES).putLong(instant).array();
        }

        @Override
        public Long decode(byte[] bytes) {
            return ByteBuffer.wrap(bytes).getLong();
        }

        @Override
        public long expiresAt(Long instant) {
            return instant;
        }

        @Override
        public long remaining(Long instant, long nowMicros) {
            return nowMicros >= instant ? 10 : 0;
        }
    };

    @Test
    void takesAStrategyOfOnesOwn() {
        StateCodec<Long> codec = INSTANT;
        ManualClock clock = ManualClock.at(1_759_996_572_738_000L);

        Strategy<Long> mine = Strategy.of(
                "cooldown",
                10,
                codec,
                (until, nowMicros, cost) -> until == null || nowMicros >= until
                        ? Verdict.allow(nowMicros + cost * 1_000_000) // a second's rest for each unit
                        : Verdict.deny(until));

        Limiter limiter = Limiter.builder(mine).clock(clock).build();
        assertThat(limiter.checkSync("a", 3).allowed()).isTrue();
        assertThat(limiter.checkSync("a").retryAfter()).isEqualTo(Duration.ofSeconds(3));
        clock.advance(Duration.ofSeconds(3));
        assertThat(limiter.checkSync("a", 10).allowed()).isTrue();
    }

    @Test
    void leases() {
        Overheard store = new Overheard(MemoryStore.create(), new ConcurrentLinkedQueue<>());
        FixedWindow strategy = FixedWindow.of(100, Duration.ofDays(3650));

        Limiter limiter = TwoTier.leased(strategy, store, LeaseOptions.batch(50).windowCoupled())
                .build();

        StepVerifier.create(
                        Flux.range(0, 100).concatMap(i -> limiter.check("a")).filter(Decision::allowed))
                .expectNextCount(100)
                .verifyComplete();
        assertThat(store.keys).hasSize(2);
        StepVerifier.create(limiter.check("a").map(Decision::allowed))
                .expectNext(false)
                .verifyComplete();
        StepVerifier.create(limiter.close()).verifyComplete();
    }
}
