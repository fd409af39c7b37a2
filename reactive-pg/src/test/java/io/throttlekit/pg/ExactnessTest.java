package io.throttlekit.pg;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.ManualClock;
import io.throttlekit.Program;
import io.throttlekit.StateCodec;
import io.throttlekit.StateMismatchException;
import io.throttlekit.Step;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.Strategy;
import io.throttlekit.Transform;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.Quota;
import io.throttlekit.strategy.SlidingWindow;
import io.throttlekit.strategy.SlidingWindowLog;
import io.throttlekit.strategy.TokenBucket;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Neither too many nor too few, whoever asks at once and whatever the database is set to. */
class ExactnessTest {
    private static final Duration LONG = Duration.ofDays(1);
    private static final List<Strategy<?>> OF_50 = List.of(
            Gcra.of(50, LONG),
            TokenBucket.of(50, 1, LONG),
            FixedWindow.of(50, Duration.ofDays(3650)),
            Quota.fixed(50, Duration.ofDays(3650)),
            SlidingWindow.of(50, LONG),
            SlidingWindowLog.of(50, LONG));

    @ParameterizedTest(name = "{0}, programs: {1}")
    @CsvSource({
        "read committed,true", "read committed,false",
        "repeatable read,true", "repeatable read,false",
        "serializable,true", "serializable,false"
    })
    void allowsExactly50Of400FromTwoStores(String isolation, boolean programs) {
        String database = Postgres.SERVER.createDatabase("default_transaction_isolation = '" + isolation + "'");
        PgStore one = Postgres.store(database).programs(programs).build();
        PgStore two = Postgres.store(database).programs(programs).build();

        for (Strategy<?> strategy : OF_50) {
            for (boolean warm : new boolean[] {false, true}) {
                String key = strategy.getClass().getSimpleName() + warm;
                int taken = warm ? 10 : 0;
                for (int i = 0; i < taken; i++) {
                    Postgres.get(one.apply(key, strategy.check(1, 1)));
                }

                List<Decision> decisions = Postgres.get(Flux.range(0, 400)
                        .flatMap(
                                i -> (i % 2 == 0 ? one : two)
                                        .apply(key, strategy.check(1, 1))
                                        .subscribeOn(Schedulers.parallel()),
                                400)
                        .collectList());

                assertThat(decisions).hasSize(400);
                assertThat(decisions.stream().filter(Decision::allowed))
                        .as("%s, warm: %s", strategy.name(), warm)
                        .hasSize(50 - taken);
            }
        }
        Postgres.done(Mono.when(one.close(), two.close()));
    }

    @Test
    void cancelledCallsHoldNothing() {
        String database = Postgres.SERVER.createDatabase();
        PgStore store = Postgres.store(database).deadline(Duration.ofSeconds(5)).build();
        Strategy<?> strategy = Gcra.of(1_000_000, LONG);
        Transform<Long, Long> counting = new Counting();
        Postgres.get(store.apply("first", counting));
        for (int i = 0; i < 20; i++) {
            Postgres.get(store.apply("warm" + i, counting));
        }
        long before = Postgres.connections(Postgres.SERVER, database);
        Random random = new Random(7);

        List<Disposable> calls = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            String key = "key" + i % 10;
            calls.add((i % 2 == 0
                            ? store.apply(key, strategy.check(1, 1)).then()
                            : store.apply(key + "f", counting).then())
                    .subscribe());
            int late = random.nextInt(6);
            if (late > 0 && i % 50 == 0) {
                Mono.delay(Duration.ofMillis(late)).block();
            }
            calls.get(calls.size() - 1 - Math.min(random.nextInt(6), i)).dispose();
        }
        calls.forEach(Disposable::dispose);

        for (int i = 0; i < 10; i++) {
            assertThat(Postgres.get(store.apply("key" + i, strategy.check(1, 1)))
                            .allowed())
                    .isTrue();
            assertThat(Postgres.get(store.apply("key" + i + "f", counting))).isPositive();
        }
        Postgres.await(
                "nobody idle in transaction",
                () -> Postgres.SERVER.number(
                                "postgres",
                                "SELECT count(*) FROM pg_stat_activity WHERE datname = '" + database
                                        + "' AND state LIKE 'idle in transaction%'")
                        == 0);
        assertThat(Postgres.connections(Postgres.SERVER, database))
                .isEqualTo(before)
                .isEqualTo(2);
        Postgres.done(store.close());
        Postgres.await("nobody left", () -> Postgres.connections(Postgres.SERVER, database) == 0);
    }

    @Test
    void refusesAtOnceWhatIsTooMuch() {
        String database = Postgres.SERVER.createDatabase();
        PgStore store = Postgres.store(database).maxInFlight(10).build();

        List<Throwable> errors = Postgres.get(Flux.range(0, 50)
                .flatMap(
                        i -> store.apply("key", Gcra.of(100, LONG).check(1, 1))
                                .then(Mono.<Throwable>empty())
                                .onErrorResume(Mono::just),
                        50)
                .collectList());

        // Some may be answered, and make room, before the last is asked.
        assertThat(errors)
                .hasSizeBetween(1, 40)
                .allSatisfy(e -> assertThat(e).isInstanceOfSatisfying(StoreUnavailableException.class, unavailable -> {
                    assertThat(unavailable.reason()).isEqualTo(Reason.OVERLOADED);
                    assertThat(unavailable.mayHaveCharged()).isFalse();
                }));
        assertThat(Postgres.get(store.apply("key", Gcra.of(100, LONG).peek())).remaining())
                .as("what was not refused was charged")
                .isEqualTo(100 - (50 - errors.size()));
        Postgres.done(store.close());
    }

    @Test
    void neitherPathReadsWhatTheOtherWrote() {
        String database = Postgres.SERVER.createDatabase();
        PgStore programs = Postgres.store(database).build();
        PgStore functions = Postgres.store(database).programs(false).build();
        Gcra gcra = Gcra.of(5, LONG);
        Postgres.get(programs.apply("a", gcra.check(2, 2)));
        Postgres.get(functions.apply("b", gcra.check(2, 2)));

        assertThat(Postgres.error(functions.apply("a", gcra.check(1, 1)))).isInstanceOf(StateMismatchException.class);
        assertThat(Postgres.error(functions.apply("a", gcra.peek()))).isInstanceOf(StateMismatchException.class);
        assertThat(Postgres.error(programs.apply("b", gcra.check(1, 1)))).isInstanceOf(StateMismatchException.class);
        assertThat(Postgres.error(programs.apply("b", gcra.peek()))).isInstanceOf(StateMismatchException.class);
        assertThat(Postgres.get(programs.apply("a", gcra.peek())).remaining()).isEqualTo(3);
        assertThat(Postgres.get(functions.apply("b", gcra.peek())).remaining()).isEqualTo(3);
        Postgres.done(Mono.when(programs.close(), functions.close()));
    }

    @ParameterizedTest(name = "programs: {0}")
    @ValueSource(booleans = {true, false})
    void anotherRateTakesTheKeyOver(boolean programs) {
        String database = Postgres.SERVER.createDatabase();
        ManualClock clock = ManualClock.at(1_759_996_572_738_000L);
        PgStore store = Postgres.store(database).clock(clock).programs(programs).build();
        Postgres.get(store.apply("key", Gcra.of(7, Duration.ofSeconds(1)).check(5, 5)));

        Decision other = Postgres.get(
                store.apply("key", Gcra.of(3, Duration.ofSeconds(1)).peek()));

        // Five of a seventh each are spoken for: of a second, two sevenths are left, less than a third.
        assertThat(other.remaining()).isZero();
        assertThat(other.retryAfterMs()).isEqualTo(48);
        Postgres.done(store.close());
    }

    @Test
    void asksAgainWhenTheClientsClockIsFarOff() {
        String database = Postgres.SERVER.createDatabase();
        PgStore store = Postgres.store(database).build();
        Transform<?, Decision> check = Quota.daily(5).check(2, 2);

        Decision decision = Postgres.get(store.apply("key", withClockBehind(check, Duration.ofDays(400))));

        assertThat(decision.allowed()).isTrue();
        assertThat(decision.remaining()).isEqualTo(3);
        assertThat(Postgres.get(store.apply("key", Quota.daily(5).peek())).remaining())
                .isEqualTo(3);
        Postgres.done(store.close());
    }

    /** The same transform, whose program computes its first arguments for a time long ago. */
    private static <S, R> Transform<S, R> withClockBehind(Transform<S, R> transform, Duration behind) {
        Program<R> program = Objects.requireNonNull(transform.program());
        boolean[] asked = {false};
        @SuppressWarnings("unchecked")
        Program<R> late = (Program<R>) Proxy.newProxyInstance(
                Program.class.getClassLoader(), new Class<?>[] {Program.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("args") && !asked[0]) {
                        asked[0] = true;
                        return program.args((Long) arguments[0] - behind.toNanos() / 1000);
                    }
                    return method.invoke(program, arguments);
                });
        return new Transform<>() {
            @Override
            public StateCodec<S> codec() {
                return transform.codec();
            }

            @Override
            public Step<S> step(@Nullable S before, long nowMicros) {
                throw new AssertionError("the program runs");
            }

            @Override
            public R read(Step<S> step, long nowMicros) {
                throw new AssertionError("the program runs");
            }

            @Override
            public Program<R> program() {
                return late;
            }
        };
    }
}
