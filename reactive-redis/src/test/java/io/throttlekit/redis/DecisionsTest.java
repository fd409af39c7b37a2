package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.ManualClock;
import io.throttlekit.StateMismatchException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.Strategy;
import io.throttlekit.conformance.RedisServer;
import io.throttlekit.conformance.RedisServers;
import io.throttlekit.limiter.Checked;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.Quota;
import io.throttlekit.strategy.SlidingWindow;
import io.throttlekit.strategy.SlidingWindowLog;
import io.throttlekit.strategy.TokenBucket;
import io.throttlekit.strategy.WindowState;
import io.vertx.core.Vertx;
import io.vertx.redis.client.RedisOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;

/** What is decided, what that costs, and what it leaves in Redis. */
class DecisionsTest {
    private static final Duration HOUR = Duration.ofHours(1);
    private static RedisServer server;
    private static Vertx vertx;

    private final List<RedisStore> opened = new ArrayList<>();

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
    void flush() {
        server.command("FLUSHALL");
    }

    @AfterEach
    void close() {
        opened.forEach(store -> Await.done(store.close()));
    }

    private RedisStore.Builder builder() {
        return RedisStore.builder(vertx, new RedisOptions().setConnectionString(server.uri()))
                .deadline(Duration.ofSeconds(10))
                .connections(1);
    }

    private RedisStore opening(RedisStore.Builder builder) {
        RedisStore store = builder.build();
        opened.add(store);
        return store;
    }

    private RedisStore store() {
        return opening(builder());
    }

    private static Limiter limiter(RedisStore store, Strategy<?> strategy) {
        return Limiter.builder(strategy).store(store).build();
    }

    static Stream<Strategy<?>> strategiesOfFifty() {
        return Stream.of(
                Gcra.of(50, HOUR),
                TokenBucket.of(50, 50, HOUR),
                FixedWindow.of(50, Duration.ofDays(3_650)),
                SlidingWindow.of(50, HOUR),
                SlidingWindowLog.of(50, HOUR),
                Quota.monthly(50),
                LastHit.strategy(50));
    }

    private static long allowed(Limiter a, Limiter b, int checks) {
        return Await.value(Flux.range(0, checks)
                .flatMap(i -> (i % 2 == 0 ? a : b).check("hot").subscribeOn(Schedulers.parallel()), checks)
                .filter(Decision::allowed)
                .count());
    }

    @ParameterizedTest
    @MethodSource("strategiesOfFifty")
    void allowsExactlyTheLimitFromTwoStores(Strategy<?> strategy) {
        Limiter a = limiter(store(), strategy);
        Limiter b = limiter(store(), strategy);

        assertThat(allowed(a, b, 200)).isEqualTo(50);
    }

    @Test
    void allowsExactlyTheLimitOnTheFunctionPath() {
        Limiter a = limiter(opening(builder().programs(false)), Gcra.of(50, HOUR));
        Limiter b = limiter(opening(builder().programs(false)), Gcra.of(50, HOUR));

        assertThat(allowed(a, b, 200)).isEqualTo(50);
    }

    @Test
    void allowsExactlyTheLimitRightAfterScriptFlush() {
        Limiter a = limiter(store(), Gcra.of(50, HOUR));
        Limiter b = limiter(store(), Gcra.of(50, HOUR));
        Await.value(a.check("warm"));
        server.command("SCRIPT", "FLUSH");

        assertThat(allowed(a, b, 200)).isEqualTo(50);
    }

    @Test
    void allowsExactlyTheLimitWhileScriptsAreFlushedAllTheTime() {
        Limiter a = limiter(store(), Gcra.of(50, HOUR));
        Limiter b = limiter(store(), Gcra.of(50, HOUR));
        Disposable flushing = Mono.fromCallable(() -> String.valueOf(server.command("SCRIPT", "FLUSH")))
                .repeat()
                .subscribeOn(Schedulers.boundedElastic())
                .subscribe();
        long loads = Info.calls(server, "eval");

        for (int round = 0; round < 10; round++) {
            Await.done(a.reset("hot"));
            assertThat(allowed(a, b, 200)).isEqualTo(50);
        }

        flushing.dispose();
        assertThat(Info.calls(server, "eval")).isGreaterThan(loads);
    }

    @Test
    void logsEveryUnitOfAFrozenClockFromTwoNodes() {
        ManualClock clock = ManualClock.at(1_759_996_572_738_000L);
        SlidingWindowLog strategy = SlidingWindowLog.of(50, HOUR);
        Limiter a = limiter(opening(builder().clock(clock)), strategy);
        Limiter b = limiter(opening(builder().clock(clock)), strategy);

        assertThat(allowed(a, b, 200)).isEqualTo(50);
        assertThat(server.command("ZCARD", "throttlekit:hot")).isEqualTo(50L);
        assertThat(Await.value(a.refund("hot", 3, null))).isTrue();
        assertThat(allowed(a, b, 20)).isEqualTo(3);
    }

    @ParameterizedTest
    @MethodSource("strategiesOfFifty")
    void givesEveryKeyATimeToLive(Strategy<?> strategy) {
        for (boolean programs : new boolean[] {true, false}) {
            Limiter limiter = limiter(opening(builder().programs(programs)), strategy);
            String key = "ttl " + programs;
            Await.value(limiter.check(key, 2));
            Await.value(limiter.checkUpTo(key, 1, 100));
            if (!strategy.name().equals("lastHit")) {
                Await.value(limiter.refund(key, 1, null));
            }
            Decision decision = Await.value(limiter.peek(key));

            assertThat(Info.keysWithoutTtl(server)).isEmpty();
            long ttl = Info.ttl(server, "throttlekit:" + key);
            assertThat(ttl)
                    .as("%s, programs %s", strategy, programs)
                    .isBetween(decision.resetAtMs() - decision.decidedAtMs() - 2_000, Long.MAX_VALUE / 2);
        }
        assertThat(Info.keys(server)).hasSize(2);
    }

    @Test
    void letsKeysLiveAtLeastAnHourWithAClockOfItsOwn() {
        Limiter limiter =
                limiter(opening(builder().clock(ManualClock.at(1_000_000))), Gcra.of(1, Duration.ofMillis(1)));

        Await.value(limiter.check("virtual"));

        assertThat(Info.ttl(server, "throttlekit:virtual")).isBetween(3_590_000L, 3_600_000L);
    }

    @Test
    void keepsTheLayoutsThatOtherClientsRead() {
        ManualClock clock = ManualClock.at(1_700_000_000_000_000L);
        RedisStore store = opening(builder().clock(clock));

        Await.value(limiter(store, Gcra.of(3, Duration.ofSeconds(1))).check("gcra"));
        Await.value(limiter(store, TokenBucket.of(10, 3, Duration.ofSeconds(1))).check("bucket", 4));
        clock.set(1_700_000_000_100_007L);
        Await.value(limiter(store, TokenBucket.of(10, 3, Duration.ofSeconds(1))).check("bucket"));
        Await.value(limiter(store, FixedWindow.of(5, Duration.ofMinutes(1))).check("window", 2));
        Await.value(limiter(store, Quota.monthly(5)).check("quota", 3));
        Await.value(limiter(store, SlidingWindow.of(5, Duration.ofSeconds(10))).check("sliding", 2));
        Await.value(
                limiter(store, SlidingWindowLog.of(5, Duration.ofSeconds(10))).check("log", 2));

        assertThat(server.command("GET", "throttlekit:gcra")).isEqualTo("1700000000333.33333333333333333331");
        assertThat(server.command("HMGET", "throttlekit:bucket", "t", "l"))
                .isEqualTo(List.of("5.30002099999999998", "1700000000100.007"));
        assertThat(server.command("HMGET", "throttlekit:window", "s", "c")).isEqualTo(List.of("1699999980000", "2"));
        assertThat(server.command("HMGET", "throttlekit:quota", "s", "c")).isEqualTo(List.of("1698796800000", "3"));
        assertThat(server.command("HGETALL", "throttlekit:sliding")).isEqualTo(List.of("6", "1700000000:2"));
        assertThat(server.command("ZRANGE", "throttlekit:log", "0", "-1", "WITHSCORES"))
                .isEqualTo(List.of(
                        "jvm:1700000000100:000000000001",
                        "1700000000100",
                        "jvm:1700000000100:000000000002",
                        "1700000000100"));
    }

    @Test
    void readsWhatOtherClientsWrote() {
        ManualClock clock = ManualClock.at(1_700_000_000_000_000L);
        RedisStore store = opening(builder().clock(clock));
        server.command("SET", "throttlekit:gcra", "1700000000000.5");
        server.command("HSET", "throttlekit:bucket", "t", "2.5", "l", "1700000000000");
        server.command("HSET", "throttlekit:window", "s", "1699999980000", "c", "4");
        server.command("HSET", "throttlekit:sliding", "0", "1700000000:3");
        server.command("ZADD", "throttlekit:log", "1699999999999", "other-1", "1700000000000", "other-2");

        Map<String, Long> remaining = Map.of(
                "gcra",
                Await.value(limiter(store, Gcra.of(10, Duration.ofMillis(10))).peek("gcra"))
                        .remaining(),
                "bucket",
                Await.value(limiter(store, TokenBucket.of(10, 1, HOUR)).peek("bucket"))
                        .remaining(),
                "window",
                Await.value(limiter(store, FixedWindow.of(5, Duration.ofMinutes(1)))
                                .peek("window"))
                        .remaining(),
                "sliding",
                Await.value(limiter(store, SlidingWindow.of(5, Duration.ofSeconds(10)))
                                .peek("sliding"))
                        .remaining(),
                "log",
                Await.value(limiter(store, SlidingWindowLog.of(5, Duration.ofSeconds(10)))
                                .peek("log"))
                        .remaining());

        assertThat(remaining).isEqualTo(Map.of("gcra", 9L, "bucket", 2L, "window", 1L, "sliding", 2L, "log", 3L));
    }

    @Test
    void refusesKeysOfAnotherType() {
        RedisStore store = store();
        RedisStore functions = opening(builder().programs(false));
        server.command("LPUSH", "throttlekit:list", "x");
        server.command("SET", "throttlekit:text", "hello");
        server.command("HSET", "throttlekit:hash", "name", "value");

        for (Strategy<?> strategy : strategiesOfFifty().toList()) {
            for (String key : List.of("list", "text", "hash")) {
                assertThat(Await.error(limiter(store, strategy).check(key)))
                        .as("%s on a %s", strategy, key)
                        .isInstanceOf(StateMismatchException.class);
                assertThat(Await.error(limiter(functions, strategy).check(key)))
                        .as("%s as a function on a %s", strategy, key)
                        .isInstanceOf(StateMismatchException.class);
            }
        }
        assertThat(server.command("GET", "throttlekit:text")).isEqualTo("hello");
    }

    @Test
    void startsAfreshAfterAChangeToALongerWindow() {
        RedisStore store = store();
        Limiter seconds = limiter(store, SlidingWindow.of(2, Duration.ofSeconds(2)));
        Limiter hours = limiter(store, SlidingWindow.of(2, Duration.ofHours(2)));
        Await.value(seconds.check("changed", 2));

        assertThat(Await.value(hours.check("changed", 2)).allowed()).isTrue();
        assertThat(Await.value(hours.check("changed")).allowed()).isFalse();
        assertThat(Info.ttl(server, "throttlekit:changed"))
                .isLessThan(Duration.ofHours(3).toMillis());
    }

    @Test
    void takesOneCommandPerCheck() {
        Limiter limiter = limiter(store(), Gcra.of(1_000, HOUR));
        Await.value(limiter.check("counted"));
        long scripts = Info.calls(server, "evalsha");
        long all = Info.calls(server, "evalsha", "eval", "script", "ping", "multi", "watch", "script|load");

        for (int i = 0; i < 100; i++) {
            Await.value(limiter.check("counted"));
        }

        assertThat(Info.calls(server, "evalsha")).isEqualTo(scripts + 100);
        assertThat(Info.calls(server, "evalsha", "eval", "script", "ping", "multi", "watch", "script|load"))
                .isEqualTo(all + 100);
    }

    @Test
    void asksOnceMoreWhenItsPeriodsDoNotHoldTheServersTime() {
        RedisStore store = store();
        Strategy<WindowState> daily = Quota.daily(5);
        Await.value(store.apply("skewed", daily.check(1, 1)));
        long scripts = Info.calls(server, "evalsha");

        Decision second = Await.value(store.apply("skewed", new Skewed<>(daily.check(1, 1), 1)));
        Throwable twice = Await.error(store.apply("skewed", new Skewed<>(daily.check(1, 1), 2)));

        assertThat(second.remaining()).isEqualTo(3);
        assertThat(twice).isInstanceOf(IllegalStateException.class);
        assertThat(Await.value(store.apply("skewed", daily.peek())).remaining()).isEqualTo(3);
        assertThat(Info.calls(server, "evalsha")).isEqualTo(scripts + 5);
    }

    @Test
    void looksWithoutWriting() {
        RedisStore store = store();
        for (Strategy<?> strategy : strategiesOfFifty().toList()) {
            Limiter limiter = limiter(store, strategy);
            Await.value(limiter.check(strategy.name(), 50));
            long writes = Info.writes(server);

            Await.value(limiter.peek(strategy.name()));
            Await.value(limiter.peek("absent " + strategy.name()));
            assertThat(Await.value(limiter.check(strategy.name())).allowed()).isFalse();
            if (!strategy.name().equals("lastHit")) {
                Await.value(limiter.forecast(strategy.name()));
            }

            assertThat(Info.writes(server)).as(strategy.name()).isEqualTo(writes);
        }
    }

    @Test
    void checksManyInFewPacketsAndEachOnItsOwn() {
        try (Proxy proxy = Proxy.to(server)) {
            RedisStore store = opening(RedisStore.builder(vertx, new RedisOptions().setConnectionString(proxy.uri()))
                    .deadline(Duration.ofSeconds(10))
                    .connections(1));
            Limiter limiter = limiter(store, Gcra.of(5, HOUR));
            server.command("LPUSH", "throttlekit:key 7", "x");
            Await.value(limiter.check("warm"));
            int before = proxy.chunksToServer();

            List<Checked> checked = Await.value(limiter.checkMany(
                    IntStream.range(0, 100).mapToObj(i -> "key " + i).toList()));

            // A few and not a hundred; how many, depends on how the threads meet.
            assertThat(proxy.chunksToServer() - before).isLessThanOrEqualTo(25);
            assertThat(checked).hasSize(100);
            for (int i = 0; i < 100; i++) {
                assertThat(checked.get(i).key()).isEqualTo("key " + i);
                if (i == 7) {
                    assertThat(checked.get(i).error()).isInstanceOf(StateMismatchException.class);
                } else {
                    assertThat(checked.get(i).allowed()).isTrue();
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void keepsPrefixesApart(boolean programs) {
        Limiter a = limiter(opening(builder().programs(programs).prefix("a")), Gcra.of(1, HOUR));
        Limiter b = limiter(opening(builder().programs(programs).prefix("b")), Gcra.of(1, HOUR));
        Limiter bare = limiter(opening(builder().programs(programs).prefix("")), Gcra.of(1, HOUR));

        assertThat(Await.value(a.check("k")).allowed()).isTrue();
        assertThat(Await.value(b.check("k")).allowed()).isTrue();
        assertThat(Await.value(bare.check("k")).allowed()).isTrue();
        assertThat(Info.keys(server)).containsExactlyInAnyOrder("a:k", "b:k", "k");
    }

    @Test
    void saysWhenOthersKeepChangingTheKeyFirst() {
        List<Limiter> nodes = new ArrayList<>();
        for (int node = 0; node < 4; node++) {
            nodes.add(limiter(
                    opening(builder().programs(false).maxRetries(0)),
                    Gcra.of(1, HOUR).withBurst(1_000_000)));
        }

        Outcomes outcomes = new Outcomes(Await.value(Flux.range(0, 2_000)
                .flatMap(i -> Outcomes.of(nodes.get(i % 4).check("contended")), 16)
                .collectList()));

        assertThat(outcomes.failed(Reason.OVERLOADED)).isPositive().isEqualTo(2_000 - outcomes.allowed());
        assertThat(outcomes.mayHaveCharged()).isZero();
        assertThat(1_000_000 - Await.value(nodes.get(0).peek("contended")).remaining())
                .isEqualTo(outcomes.allowed());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void goesOnAfterASubscriberThrows(boolean programs) {
        RedisStore store = opening(builder().programs(programs));
        Limiter limiter = limiter(store, Gcra.of(5, HOUR));

        for (int i = 0; i < 3; i++) {
            limiter.check("thrown").subscribe(new BaseSubscriber<>() {
                @Override
                public Context currentContext() {
                    return Context.of("reactor.onErrorDropped.local", (Consumer<Throwable>) dropped -> {});
                }

                @Override
                protected void hookOnNext(Decision decision) {
                    throw new IllegalStateException("on purpose");
                }

                @Override
                protected void hookOnError(Throwable error) {
                    throw new IllegalStateException("on purpose, too");
                }
            });
        }

        assertThat(Await.value(limiter.check("thrown")).remaining()).isEqualTo(1);
        Await.until("nothing is held", () -> store.toString().contains(" 0 calls"));
    }

    @Test
    void runsAStrategyOfOneFunction() {
        Limiter limiter = limiter(store(), LastHit.strategy(3));

        assertThat(Await.value(limiter.checkUpTo("own", 1, 2)).granted()).isEqualTo(2);
        assertThat(Await.value(limiter.checkUpTo("own", 1, 2)).granted()).isEqualTo(1);
        assertThat(Await.value(limiter.check("own")).allowed()).isFalse();
        assertThat(String.valueOf(server.command("GET", "throttlekit:own"))).matches("\\d{16}:lastHit:\\d{16}\\+3");
    }
}
