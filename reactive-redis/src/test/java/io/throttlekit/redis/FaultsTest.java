package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.conformance.RedisServer;
import io.throttlekit.conformance.RedisServers;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.redis.Proxy.Weather;
import io.throttlekit.strategy.Gcra;
import io.vertx.core.Vertx;
import io.vertx.redis.client.RedisOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.retry.Retry;

/** Whatever happens to the server and the network: no call hangs, none is charged twice, no error is an allow. */
class FaultsTest {
    private static final long LIMIT = 1_000_000;
    /** So slow that nothing comes back while a test runs. */
    private static final Gcra STRATEGY = Gcra.of(1, Duration.ofHours(1)).withBurst(LIMIT);

    private static final Duration DEADLINE = Duration.ofMillis(500);
    /** What a busy machine may add. */
    private static final Duration SLACK = Duration.ofSeconds(3);

    private static RedisServer server;
    private static Vertx vertx;

    private final List<RedisStore> opened = new ArrayList<>();
    private int clients;

    @BeforeAll
    static void start() {
        server = RedisServers.own();
        vertx = Vertx.vertx();
    }

    @AfterAll
    static void stop() {
        server.close();
        vertx.close();
    }

    @BeforeEach
    void count() {
        server.command("FLUSHALL");
        clients = Info.clients(server);
    }

    @AfterEach
    void leavesNoConnectionAndNoKeyWithoutTtl() {
        opened.forEach(store -> Await.done(store.close()));
        Await.until("the connections are gone", () -> Info.clients(server) <= clients);
        assertThat(Info.keysWithoutTtl(server)).isEmpty();
    }

    private static RedisStore.Builder builder(String uri) {
        return RedisStore.builder(vertx, new RedisOptions().setConnectionString(uri))
                .deadline(DEADLINE)
                .connections(1);
    }

    private RedisStore opening(RedisStore.Builder builder) {
        RedisStore store = builder.build();
        opened.add(store);
        return store;
    }

    private static Limiter limiter(RedisStore store) {
        return Limiter.builder(STRATEGY).store(store).build();
    }

    /** A check that is asked for until it is answered. */
    private static Decision insistent(Mono<Decision> check) {
        return Await.value(check.retryWhen(
                Retry.fixedDelay(10_000, Duration.ofMillis(2)).filter(e -> e instanceof StoreUnavailableException)));
    }

    private static long charged(Limiter limiter, String key) {
        return LIMIT - insistent(limiter.peek(key)).remaining();
    }

    private static void awaitIdle(RedisStore store) {
        Await.until("no call is in flight", () -> store.toString().contains(" 0 calls"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void survivesAFrozenServer(boolean programs) {
        RedisStore store = opening(builder(server.uri()).programs(programs));
        Limiter limiter = limiter(store);
        insistent(limiter.check("k"));
        server.freeze();

        Outcomes first = Outcomes.together(limiter, "k", 100);
        Outcomes second = Outcomes.together(limiter, "k", 100);
        server.thaw();
        Decision after = insistent(limiter.check("k"));

        assertThat(first.allowed() + second.allowed()).isZero();
        assertThat(first.slowest()).isBetween(DEADLINE.minusMillis(50), DEADLINE.plus(SLACK));
        assertThat(second.slowest()).isLessThan(DEADLINE.plus(SLACK));
        assertThat(first.failed(Reason.TIMEOUT)).isEqualTo(100);
        assertThat(second.failed(Reason.TIMEOUT)).isEqualTo(100);
        assertThat(second.mayHaveCharged())
                .as("sent to a server that owes answers")
                .isZero();
        assertThat(after.allowed()).isTrue();
        long least = 2;
        assertThat(charged(limiter, "k")).isBetween(least, least + first.mayHaveCharged());
        awaitIdle(store);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void succeedsWithTheFirstCallAfterARestart(boolean programs) {
        RedisStore store = opening(builder(server.uri()).programs(programs).deadline(Duration.ofSeconds(5)));
        Limiter limiter = limiter(store);
        for (int round = 0; round < 3; round++) {
            insistent(limiter.check("k"));
            server.kill();

            Outcomes down = Outcomes.together(limiter, "k", 20);
            server.restart();
            Outcomes up = Outcomes.together(limiter, "k", 1);

            assertThat(down.allowed()).isZero();
            assertThat(down.failed(Reason.DISCONNECTED)).isEqualTo(20);
            assertThat(up.allowed()).isEqualTo(1);
        }
        clients = 0;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void losesNoCallWhenConnectionsAreKilledInFlight(boolean programs) {
        RedisStore store = opening(builder(server.uri())
                .programs(programs)
                .deadline(Duration.ofSeconds(5))
                .maxRetries(50));
        Limiter limiter = limiter(store);
        AtomicBoolean over = new AtomicBoolean();
        Mono<Long> kills = Mono.fromCallable(() -> server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"))
                .delaySubscription(Duration.ofMillis(5), Schedulers.boundedElastic())
                .repeat(() -> !over.get())
                .count();
        AtomicLong killed = new AtomicLong();
        Disposable killing = kills.subscribe(killed::set);

        List<Outcomes.Outcome> outcomes = new ArrayList<>();
        for (int round = 0; round < 40; round++) {
            outcomes.addAll(Outcomes.together(limiter, "k", 50).list());
        }
        over.set(true);
        Await.until("the killing ended", killing::isDisposed);

        Outcomes all = new Outcomes(outcomes);
        long charged = charged(limiter, "k");
        assertThat(all.allowed()).isPositive();
        assertThat(charged).isBetween(all.allowed(), all.allowed() + all.mayHaveCharged());
        assertThat(all.failed(Reason.TIMEOUT)).isZero();
        awaitIdle(store);
    }

    @Test
    void goesOnAfterFlushAll() {
        Limiter limiter = limiter(opening(builder(server.uri())));
        insistent(limiter.check("k", 10));

        server.command("FLUSHALL");

        assertThat(charged(limiter, "k")).isZero();
        assertThat(Await.value(limiter.check("k")).remaining()).isEqualTo(LIMIT - 1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void saysSoWhenTheServersMemoryIsFull(boolean programs) {
        try (RedisServer small = RedisServers.own("--maxmemory", "1mb", "--maxmemory-policy", "noeviction")) {
            RedisStore store = opening(builder(small.uri()).programs(programs).deadline(Duration.ofSeconds(5)));
            Limiter limiter = limiter(store);
            insistent(limiter.peek("warm"));
            small.command("CONFIG", "SET", "maxmemory", "1");

            StoreUnavailableException full = Await.outage(limiter.check("k"));
            Decision look = Await.value(limiter.peek("k"));
            small.command("CONFIG", "SET", "maxmemory", "100mb");

            assertThat(full.reason()).isEqualTo(Reason.SERVER);
            assertThat(full.mayHaveCharged()).isFalse();
            assertThat(look.remaining()).isEqualTo(LIMIT);
            assertThat(Await.value(limiter.check("k")).remaining()).isEqualTo(LIMIT - 1);
            Await.done(store.close());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void refusesToDecideWithAWrongPassword(boolean programs) {
        try (RedisServer secured = RedisServers.own("--requirepass", "right-horse")) {
            String wrong = "redis://:wrong-horse@127.0.0.1:" + secured.port();
            Limiter limiter = limiter(opening(builder(wrong).programs(programs)));
            Limiter none = limiter(opening(builder(secured.uri()).programs(programs)));

            for (int i = 0; i < 20; i++) {
                StoreUnavailableException refused = Await.outage(limiter.check("k"));
                assertThat(refused.reason()).isIn(Reason.DISCONNECTED, Reason.TIMEOUT);
                assertThat(refused.mayHaveCharged()).isFalse();
                for (Throwable t = refused; t != null; t = t.getCause()) {
                    assertThat(t.toString()).doesNotContain("horse");
                }
                assertThat(Await.outage(none.check("k")).mayHaveCharged()).isFalse();
            }
            RedisStore right = opening(builder("redis://:right-horse@127.0.0.1:" + secured.port()));
            assertThat(insistent(limiter(right).check("k")).allowed()).isTrue();
            opened.forEach(store -> Await.done(store.close()));
        }
    }

    @Test
    void worksThroughASlowNetwork() {
        try (Proxy proxy = Proxy.to(server)) {
            Limiter limiter = limiter(opening(builder(proxy.uri()).deadline(Duration.ofSeconds(10))));
            proxy.weather(Weather.SLOW, Weather.SLOW);

            Outcomes outcomes = Outcomes.together(limiter, "k", 50);

            assertThat(outcomes.allowed()).isEqualTo(50);
            assertThat(charged(limiter, "k")).isEqualTo(50);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void endsEveryCallWhenTheNetworkSwallowsBytes(boolean programs) {
        try (Proxy proxy = Proxy.to(server)) {
            Limiter limiter = limiter(opening(builder(proxy.uri()).programs(programs)));
            insistent(limiter.check("k"));
            proxy.weather(Weather.FINE, Weather.SWALLOWING);

            Outcomes deaf = Outcomes.together(limiter, "k", 20);
            proxy.weather(Weather.SWALLOWING, Weather.SWALLOWING);
            Outcomes dead = Outcomes.together(limiter, "k", 20);
            proxy.weather(Weather.FINE, Weather.FINE);
            Decision after = insistent(limiter.check("k"));

            assertThat(deaf.allowed() + dead.allowed()).isZero();
            assertThat(deaf.slowest()).isLessThan(DEADLINE.plus(SLACK));
            assertThat(dead.slowest()).isLessThan(DEADLINE.plus(SLACK));
            assertThat(after.allowed()).isTrue();
            assertThat(charged(limiter, "k")).isBetween(2L, 2 + deaf.mayHaveCharged() + dead.mayHaveCharged());
        }
    }

    @Test
    void endsEveryCallWhenTheNetworkLosesBytes() {
        try (Proxy proxy = Proxy.to(server)) {
            Limiter limiter = limiter(opening(builder(proxy.uri())));
            insistent(limiter.check("k"));
            proxy.weather(Weather.LOSSY, Weather.FINE);
            Outcomes mutilated = Outcomes.together(limiter, "k", 50);
            proxy.weather(Weather.FINE, Weather.LOSSY);
            Outcomes misheard = Outcomes.together(limiter, "k", 50);
            proxy.weather(Weather.FINE, Weather.FINE);

            assertThat(mutilated.slowest()).isLessThan(DEADLINE.plus(SLACK));
            assertThat(misheard.slowest()).isLessThan(DEADLINE.plus(SLACK));
            assertThat(insistent(limiter.check("k")).allowed()).isTrue();
        }
    }

    @Test
    void findsTheNewMasterAfterAFailover() {
        try (RedisServer successor = RedisServers.own();
                Proxy proxy = Proxy.to(server)) {
            Limiter limiter = limiter(opening(builder(proxy.uri()).deadline(Duration.ofSeconds(5))));
            Limiter functions = limiter(
                    opening(builder(proxy.uri()).deadline(Duration.ofSeconds(5)).programs(false)));
            insistent(limiter.check("k"));
            insistent(functions.check("f"));
            server.command("REPLICAOF", "127.0.0.1", "1");

            assertThat(Await.outage(limiter.check("k")).reason()).isEqualTo(Reason.SERVER);
            assertThat(Await.outage(functions.check("f")).reason()).isEqualTo(Reason.SERVER);
            proxy.leadTo(successor);
            Decision found = Await.value(limiter.check("k"));
            Decision foundToo = Await.value(functions.check("f"));

            assertThat(found.allowed()).isTrue();
            assertThat(foundToo.allowed()).isTrue();
            assertThat(successor.command("EXISTS", "throttlekit:k", "throttlekit:f"))
                    .isEqualTo(2L);
        } finally {
            server.command("REPLICAOF", "NO", "ONE");
        }
    }

    @Test
    void failsAtOnceWithoutAServer() {
        try (RedisServer gone = RedisServers.own()) {
            gone.kill();
            for (boolean programs : new boolean[] {true, false}) {
                Limiter limiter =
                        limiter(opening(builder(gone.uri()).programs(programs).deadline(Duration.ofSeconds(10))));

                Outcomes outcomes = Outcomes.together(limiter, "k", 20);

                assertThat(outcomes.failed(Reason.DISCONNECTED)).isEqualTo(20);
                assertThat(outcomes.mayHaveCharged()).isZero();
                assertThat(outcomes.slowest()).isLessThan(Duration.ofSeconds(5));
            }
        }
    }

    @Test
    void countsTheWaitForAConnection() {
        try (Proxy proxy = Proxy.to(server)) {
            proxy.weather(Weather.SWALLOWING, Weather.SWALLOWING);
            for (boolean programs : new boolean[] {true, false}) {
                Limiter limiter = limiter(opening(builder(proxy.uri()).programs(programs)));

                Outcomes outcomes = Outcomes.together(limiter, "k", 20);

                assertThat(outcomes.failed(Reason.TIMEOUT)).isEqualTo(20);
                assertThat(outcomes.mayHaveCharged()).isZero();
                assertThat(outcomes.slowest()).isLessThan(DEADLINE.plus(SLACK));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void boundsTheCallsInFlight(boolean programs) {
        RedisStore store =
                opening(builder(server.uri()).programs(programs).maxInFlight(10).deadline(Duration.ofSeconds(2)));
        Limiter limiter = limiter(store);
        insistent(limiter.check("k"));
        server.freeze();

        Outcomes outcomes = Outcomes.together(limiter, "k", 30);
        server.thaw();

        assertThat(outcomes.failed(Reason.OVERLOADED)).isEqualTo(20);
        assertThat(outcomes.failed(Reason.TIMEOUT)).isEqualTo(10);
        awaitIdle(store);
        assertThat(insistent(limiter.check("k")).allowed()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void holdsNothingOfTenThousandCancelledCalls(boolean programs) {
        RedisStore store = opening(builder(server.uri())
                .programs(programs)
                .deadline(Duration.ofSeconds(20))
                .maxInFlight(20_000));
        Limiter limiter = limiter(store);
        insistent(limiter.check("warm"));
        Random random = new Random(4);
        AtomicLong answered = new AtomicLong();

        Await.done(Flux.range(0, 10_000)
                .flatMap(
                        i -> {
                            Disposable call = limiter.check("k").subscribe(decision -> answered.incrementAndGet());
                            return Mono.delay(Duration.ofNanos(random.nextInt(3_000_000)))
                                    .doOnNext(tick -> call.dispose());
                        },
                        500)
                .then());

        awaitIdle(store);
        assertThat(charged(limiter, "k")).isBetween(answered.get(), 10_000L);
        assertThat(Await.value(limiter.check("warm")).allowed()).isTrue();
        assertThat(Info.clients(server) - clients).isLessThanOrEqualTo(3);
    }

    @Test
    void failsWhatIsInFlightWhenItIsClosed() {
        RedisStore store = opening(builder(server.uri()).deadline(Duration.ofSeconds(20)));
        Limiter limiter = limiter(store);
        insistent(limiter.check("k"));
        server.freeze();
        Mono<Outcomes> calls = Flux.range(0, 20)
                .flatMap(i -> Outcomes.of(limiter.check("k")), 20)
                .collectList()
                .map(Outcomes::new)
                .cache();
        Disposable running = calls.subscribe();
        Await.until("the calls are in flight", () -> store.toString().contains(" 20 calls"));

        Await.done(store.close());

        assertThat(Await.value(calls).failed(Reason.CLOSED)).isEqualTo(20);
        assertThat(running.isDisposed()).isTrue();
        assertThat(Await.outage(limiter.check("k")).reason()).isEqualTo(Reason.CLOSED);
        assertThat(store.toString()).contains(" 0 calls");
        server.thaw();
    }
}
