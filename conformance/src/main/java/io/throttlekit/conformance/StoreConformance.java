package io.throttlekit.conformance;

import static java.nio.charset.StandardCharsets.UTF_16BE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.fail;

import io.throttlekit.Decision;
import io.throttlekit.ManualClock;
import io.throttlekit.StateMismatchException;
import io.throttlekit.Step;
import io.throttlekit.Store;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.Strategy;
import io.throttlekit.Transform;
import io.throttlekit.conformance.Tally.Seen;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.util.context.Context;
import reactor.util.retry.Retry;

/**
 * What every {@link Store} must do, one test per rule. Extend it, say how to open your store, and run it with
 * JUnit.
 *
 * <pre>{@code
 * class MyStoreTest extends StoreConformance {
 *     protected Store open() { return MyStore.connect(address); }
 *     protected Store openBeside(Store first) { return MyStore.connect(address); }
 * }
 * }</pre>
 *
 * <ol>
 *   <li>What a transform leaves is what the next one finds, and no state is left when it leaves none.
 *   <li>Keys do not touch each other.
 *   <li>Reset forgets a key, and only that one.
 *   <li>A state is found until the instant it expires at; from that instant on it is as if there were none, whatever
 *       kind of state is looked for.
 *   <li>Of 200 applications at once on one key none is lost, within {@link #deadline()}.
 *   <li>The same from two stores on one backend.
 *   <li>A step that changes nothing is not written.
 *   <li>An error of {@code step} reaches the subscriber as it is, and the state stays as it was.
 *   <li>So does an error of {@code read}.
 *   <li>Assembling does nothing; every subscription applies once.
 *   <li>1,000 cancelled calls hold nothing: the key and the store go on.
 *   <li>Any two different strings are different keys: empty, blank, with {@code :}, <code>{}</code>, {@code %},
 *       line ends, NUL, emoji, halves of surrogate pairs, 10 kB long.
 *   <li>After close every call fails with {@link StoreUnavailableException}, reason {@code CLOSED}; closing twice
 *       is as closing once; another store on the same backend goes on.
 *   <li>A key that holds another kind of state is a {@link StateMismatchException}, and stays as it was.
 *   <li>A null argument is a {@link NullPointerException} at the call.
 *   <li>A {@code Mono} signals one value, not before it is requested, and then completes; or one error.
 *   <li>A codec's bytes come back as they were, whatever they are, also none and 10 kB.
 * </ol>
 *
 * <p>Where a rule says "found" and "left", it is tried with a plain counter, which has no program, and with a
 * {@link Gcra}, which a store may run as one. Tests use keys of their own and can run on a backend that others use
 * too.
 */
public abstract class StoreConformance {
    private final String run = UUID.randomUUID().toString();
    private final Tally.Codec codec = new Tally.Codec("tally");
    private final List<Store> opened = new ArrayList<>();

    /** For JUnit. */
    protected StoreConformance() {}

    /**
     * Opens the store under test. It is closed after the test.
     *
     * @return a new store
     */
    protected abstract Store open();

    /**
     * Opens another store on the same backend.
     *
     * @param first a store that {@link #open} made
     * @return another store; {@code first} itself if the store has no backend that could be shared
     */
    protected abstract Store openBeside(Store first);

    /**
     * The clock of all stores that are opened.
     *
     * @return null when the stores tell the time themselves; then expiry is waited for, about half a second
     */
    protected @Nullable ManualClock clock() {
        return null;
    }

    /**
     * How long any one answer may take, and all of rule 5.
     *
     * @return 10 s unless overridden
     */
    protected Duration deadline() {
        return Duration.ofSeconds(10);
    }

    /**
     * How many writes the backend has seen, if it can tell, so that rule 7 need not rely on what the codec was
     * asked for.
     *
     * @return a number that grows with every write to the backend
     */
    protected OptionalLong writes() {
        return OptionalLong.empty();
    }

    /** How a test counts: by a function alone, or by a strategy that a store may have a program for. */
    enum Way {
        FUNCTION,
        STRATEGY;

        /** One unit an hour: what was taken shows for as long as a test can take. */
        private static final Gcra SLOW = Gcra.of(1, Duration.ofHours(1)).withBurst(100_000);

        Mono<Long> add(Store store, Tally.Codec codec, String key, long units) {
            return switch (this) {
                case FUNCTION ->
                    store.apply(key, Tally.adding(codec, units, Tally.LONG_MICROS))
                            .map(Seen::count);
                case STRATEGY -> store.apply(key, SLOW.check(units, units)).map(Way::taken);
            };
        }

        Mono<Long> look(Store store, Tally.Codec codec, String key) {
            return switch (this) {
                case FUNCTION -> store.apply(key, Tally.looking(codec)).map(Seen::count);
                case STRATEGY -> store.apply(key, SLOW.peek()).map(Way::taken);
            };
        }

        private static long taken(Decision decision) {
            return decision.limit() - decision.remaining();
        }
    }

    private Store opening() {
        Store store = open();
        opened.add(store);
        return store;
    }

    private Store openingBeside(Store first) {
        Store store = openBeside(first);
        opened.add(store);
        return store;
    }

    private String key(String name) {
        return run + "/" + name;
    }

    private <T> T await(Mono<T> mono) {
        AtomicReference<T> answer = new AtomicReference<>();
        StepVerifier.create(mono).consumeNextWith(answer::set).expectComplete().verify(deadline());
        return Objects.requireNonNull(answer.get());
    }

    private void awaitDone(Mono<Void> mono) {
        StepVerifier.create(mono).expectComplete().verify(deadline());
    }

    private Throwable awaitError(Mono<?> mono) {
        AtomicReference<Throwable> error = new AtomicReference<>();
        StepVerifier.create(mono)
                .expectErrorSatisfies(e -> error.set(Exceptions.unwrap(e)))
                .verify(deadline());
        return Objects.requireNonNull(error.get());
    }

    private long add(Way way, Store store, String key, long units) {
        return await(way.add(store, codec, key, units));
    }

    private long look(Way way, Store store, String key) {
        return await(way.look(store, codec, key));
    }

    /** Closes what the test opened. */
    @AfterEach
    void closeAll() {
        opened.forEach(store -> awaitDone(store.close()));
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("Rule 1: what a transform leaves is what the next one finds")
    void keepsWhatATransformLeaves(Way way) {
        Store store = opening();
        String key = key("kept");

        assertThat(look(way, store, key)).isZero();
        assertThat(add(way, store, key, 1)).isEqualTo(1);
        assertThat(add(way, store, key, 5)).isEqualTo(6);
        assertThat(look(way, store, key)).isEqualTo(6);
        assertThat(look(way, store, key)).isEqualTo(6);
    }

    @Test
    @DisplayName("Rule 1: no state is left when a transform leaves none")
    void forgetsWhatATransformForgets() {
        Store store = opening();
        String key = key("forgotten");
        add(Way.FUNCTION, store, key, 3);

        assertThat(await(store.apply(key, Tally.forgetting(codec))).count()).isZero();

        assertThat(look(Way.FUNCTION, store, key)).isZero();
        assertThat(add(Way.FUNCTION, store, key, 1)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("Rule 2: keys do not touch each other")
    void keepsKeysApart(Way way) {
        Store store = opening();

        add(way, store, key("a"), 1);
        add(way, store, key("A"), 10);
        add(way, store, key("aa"), 100);

        assertThat(look(way, store, key("a"))).isEqualTo(1);
        assertThat(look(way, store, key("A"))).isEqualTo(10);
        assertThat(look(way, store, key("aa"))).isEqualTo(100);
        assertThat(look(way, store, key("b"))).isZero();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("Rule 3: reset forgets a key, and only that one")
    void resetForgetsTheKey(Way way) {
        Store store = opening();
        add(way, store, key("reset"), 7);
        add(way, store, key("other"), 7);

        awaitDone(store.reset(key("reset")));
        awaitDone(store.reset(key("never used")));

        assertThat(look(way, store, key("reset"))).isZero();
        assertThat(add(way, store, key("reset"), 1)).isEqualTo(1);
        assertThat(look(way, store, key("other"))).isEqualTo(7);
    }

    @Test
    @DisplayName("Rule 4: a state is found until the instant it expires at, and not from then on")
    void expiresOnTime() {
        Store store = opening();
        String key = key("expiring");
        Seen first = await(store.apply(key, Tally.adding(codec, 1, 400_000)));
        long ends = first.endsAtMicros();
        ManualClock clock = clock();

        boolean over = false;
        for (int looks = 0; !over; looks++) {
            if (clock != null) {
                clock.set(looks == 0 ? ends - 1 : ends);
            }
            Seen seen = await(store.apply(key, Tally.looking(codec)));
            over = seen.nowMicros() >= ends;

            assertThat(seen.count())
                    .as("the count at %s us before it ends", ends - seen.nowMicros())
                    .isEqualTo(over ? 0 : 1);
            assertThat(looks).as("looks that took no time").isLessThan(100_000);
            if (clock == null && !over) {
                await(Mono.delay(Duration.ofMillis(10)));
            }
        }
        assertThat(await(store.apply(key, Tally.looking(new Tally.Codec("another"))))
                        .count())
                .isZero();
        assertThat(add(Way.FUNCTION, store, key, 1)).isEqualTo(1);
    }

    @Test
    @DisplayName("Rule 4: a strategy's state expires too")
    void expiresAStrategysState() {
        Store store = opening();
        String key = key("expiring strategy");
        Strategy<?> strategy = Gcra.of(10, Duration.ofMillis(400));
        Decision full = await(store.apply(key, strategy.check(10, 10)));
        ManualClock clock = clock();

        Decision seen = full;
        // Both instants are rounded up, so within the same millisecond a server's clock may be before the reset or
        // after.
        long over = clock != null ? full.resetAtMs() : full.resetAtMs() + 1;
        for (int looks = 0; seen.decidedAtMs() < over; looks++) {
            if (clock != null) {
                clock.set(full.resetAtMs() * 1000 - (looks == 0 ? 2_000 : 0));
            } else {
                await(Mono.delay(Duration.ofMillis(10)));
            }
            seen = await(store.apply(key, strategy.peek()));

            if (seen.decidedAtMs() < full.resetAtMs()) {
                assertThat(seen.remaining()).as("remaining before the reset").isLessThan(10);
            }
            assertThat(looks).as("looks that took no time").isLessThan(100_000);
        }
        assertThat(seen.remaining()).as("remaining after the reset").isEqualTo(10);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("Rule 5: of 200 applications at once none is lost")
    void losesNothingAtOnce(Way way) {
        Store store = opening();
        String key = key("contended");

        List<Long> answers = await(addingAtOnce(way, List.of(store), key));

        assertThat(answers)
                .containsExactlyElementsOf(
                        LongStream.rangeClosed(1, 200).boxed().toList());
        assertThat(look(way, store, key)).isEqualTo(200);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("Rule 6: of 200 applications at once from two stores none is lost")
    void losesNothingBetweenTwoStores(Way way) {
        Store store = opening();
        Store beside = openingBeside(store);
        String key = key("contended by two");

        List<Long> answers = await(addingAtOnce(way, List.of(store, beside), key));

        assertThat(answers)
                .containsExactlyElementsOf(
                        LongStream.rangeClosed(1, 200).boxed().toList());
        assertThat(look(way, store, key)).isEqualTo(200);
        assertThat(look(way, beside, key)).isEqualTo(200);
    }

    private Mono<List<Long>> addingAtOnce(Way way, List<Store> stores, String key) {
        return Flux.range(0, 200)
                .flatMap(
                        i -> way.add(stores.get(i % stores.size()), codec, key, 1)
                                .subscribeOn(Schedulers.parallel()),
                        200)
                .sort()
                .collectList();
    }

    @Test
    @DisplayName("Rule 7: a step that changes nothing is not written")
    void writesNothingWhenNothingChanges() {
        Store store = opening();
        String key = key("denied");
        Strategy<?> one = FixedWindow.of(1, Duration.ofDays(3650));
        add(Way.FUNCTION, store, key, 4);
        await(store.apply(key("denied by a strategy"), one.check(1, 1)));
        int encodedBefore = codec.written();
        OptionalLong writesBefore = writes();

        await(store.apply(key, Tally.looking(codec)));
        await(store.apply(key("absent"), Tally.looking(codec)));
        Decision denial = await(store.apply(key("denied by a strategy"), one.check(1, 1)));
        Decision impossible = await(store.apply(key("absent strategy"), one.check(2, 2)));

        assertThat(denial.allowed()).isFalse();
        assertThat(impossible.allowed()).isFalse();
        assertThat(codec.written()).as("states that were written").isEqualTo(encodedBefore);
        assertThat(writes()).as("writes of the backend").isEqualTo(writesBefore);
        assertThat(look(Way.FUNCTION, store, key)).isEqualTo(4);
    }

    @Test
    @DisplayName("Rule 8: an error of step reaches the subscriber and changes nothing")
    void passesOnWhatStepThrows() {
        Store store = opening();
        IllegalStateException error = new IllegalStateException("step fails on purpose");
        add(Way.FUNCTION, store, key("present"), 4);
        Transform<Tally, Seen> failing = Tally.changing(codec, (before, now) -> {
            throw error;
        });

        assertThat(awaitError(store.apply(key("present"), failing))).isSameAs(error);
        assertThat(awaitError(store.apply(key("absent"), failing))).isSameAs(error);

        assertThat(look(Way.FUNCTION, store, key("present"))).isEqualTo(4);
        assertThat(look(Way.FUNCTION, store, key("absent"))).isZero();
        assertThat(add(Way.FUNCTION, store, key("present"), 1)).isEqualTo(5);
    }

    @Test
    @DisplayName("Rule 9: an error of read reaches the subscriber and changes nothing")
    void passesOnWhatReadThrows() {
        Store store = opening();
        IllegalStateException error = new IllegalStateException("read fails on purpose");
        add(Way.FUNCTION, store, key("present"), 4);
        Transform<Tally, Seen> adding = Tally.adding(codec, 1, Tally.LONG_MICROS);
        Transform<Tally, Seen> failing = new Transform<>() {
            @Override
            public Tally.Codec codec() {
                return codec;
            }

            @Override
            public Step<Tally> step(@Nullable Tally before, long nowMicros) {
                return adding.step(before, nowMicros);
            }

            @Override
            public Seen read(Step<Tally> step, long nowMicros) {
                throw error;
            }
        };

        assertThat(awaitError(store.apply(key("present"), failing))).isSameAs(error);
        assertThat(awaitError(store.apply(key("absent"), failing))).isSameAs(error);

        assertThat(look(Way.FUNCTION, store, key("present"))).isEqualTo(4);
        assertThat(look(Way.FUNCTION, store, key("absent"))).isZero();
        assertThat(add(Way.FUNCTION, store, key("present"), 1)).isEqualTo(5);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("Rule 10: assembling does nothing, every subscription applies once")
    void isCold(Way way) {
        Store store = opening();
        String key = key("cold");

        Mono<Long> adding = way.add(store, codec, key, 1);
        Mono<Void> resetting = store.reset(key);
        Mono<Void> closing = store.close();

        assertThat(look(way, store, key)).isZero();
        assertThat(await(adding)).isEqualTo(1);
        assertThat(await(adding)).isEqualTo(2);
        assertThat(look(way, store, key)).isEqualTo(2);
        awaitDone(resetting);
        assertThat(await(adding)).isEqualTo(1);
        awaitDone(closing);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("Rule 11: cancelled calls hold nothing")
    void holdsNothingOfCancelledCalls(Way way) {
        Store store = opening();
        String key = key("cancelled");

        for (int i = 0; i < 1_000; i++) {
            boolean requests = i % 2 == 0;
            way.add(store, codec, key, 1).subscribe(new BaseSubscriber<Long>() {
                @Override
                protected void hookOnSubscribe(Subscription subscription) {
                    if (requests) {
                        subscription.request(1);
                    }
                    subscription.cancel();
                }
            });
        }

        // What was sent already may keep the store busy for a moment, and it may say so.
        long taken = await(way.look(store, codec, key)
                .retryWhen(Retry.fixedDelay(1_000, Duration.ofMillis(10)).filter(StoreConformance::isOverloaded)));
        assertThat(taken).isBetween(0L, 1_000L);
        for (int i = 0; i < 100; i++) {
            long next = add(way, store, key, 1);
            assertThat(next).isGreaterThan(taken);
            taken = next;
        }
    }

    private static boolean isOverloaded(Throwable error) {
        return error instanceof StoreUnavailableException unavailable && unavailable.reason() == Reason.OVERLOADED;
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("Rule 12: any two different strings are different keys")
    void takesAnyStringAsKey(Way way) {
        Store store = opening();
        List<String> keys = oddKeys();
        keys.forEach(key -> awaitDone(store.reset(key)));

        Map<String, Long> expected = new LinkedHashMap<>();
        for (String key : keys) {
            long units = expected.size() + 1L;
            expected.put(key, units);
            assertThat(add(way, store, key, units))
                    .as(() -> readable(key) + " when it is new")
                    .isEqualTo(units);
        }

        expected.forEach((key, units) -> assertThat(look(way, store, key))
                .as(() -> readable(key) + " in the end")
                .isEqualTo(units));
        keys.forEach(key -> awaitDone(store.reset(key)));
        expected.forEach((key, units) -> assertThat(look(way, store, key))
                .as(() -> readable(key) + " after its reset")
                .isZero());
    }

    private static List<String> oddKeys() {
        String tenKilobytes = "0123456789".repeat(1_000);
        return List.of(
                "",
                " ",
                "  ",
                " a",
                "a ",
                "a b",
                "a+b",
                ":",
                "a:",
                ":a",
                "a:b",
                "a::b",
                "{",
                "}",
                "{}",
                "{a}",
                "{a}b",
                "a{b}",
                "%",
                "%%",
                "%7B",
                "%7b",
                "%7Ba%7D",
                "%25",
                "%257B",
                "a\n",
                "a\r\n",
                "a\nb",
                "\n",
                "\t",
                "\0",
                "a\0",
                "a\0b",
                "\\",
                "\\0",
                "\\x00",
                "'",
                "\"",
                "'; --",
                "$1",
                "*",
                "?",
                "??",
                "\uFFFD",
                "\uD83D\uDE00",
                "\uD83D\uDE01",
                "\uD83D",
                "\uDE00",
                "\uDE00\uD83D",
                "a\uD800",
                "a\uDC00",
                "a?",
                "a\uFFFD",
                "\u00e9",
                "e\u0301",
                "\u0130",
                "i",
                "I",
                "\uFEFF",
                "\uFEFFa",
                "\u200B",
                tenKilobytes,
                tenKilobytes + "0");
    }

    private static String readable(String key) {
        String shown = key.length() > 20 ? key.substring(0, 20) + "..." : key;
        StringBuilder text = new StringBuilder("the key of " + key.length() + " chars");
        for (byte b : shown.getBytes(UTF_16BE)) {
            text.append(String.format(" %02x", b));
        }
        return text.toString();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("Rule 13: after close every call fails, and closing twice is as closing once")
    void isClosedAfterClose(Way way) {
        Store store = opening();
        Store beside = openingBeside(store);
        String key = key("closed");
        Mono<Long> assembledBefore = way.add(store, codec, key, 1);
        add(way, beside, key, 1);

        awaitDone(store.close());
        awaitDone(store.close());

        List<Mono<?>> calls =
                List.of(assembledBefore, way.add(store, codec, key, 1), way.look(store, codec, key), store.reset(key));
        for (Mono<?> call : calls) {
            assertThat(awaitError(call)).isInstanceOfSatisfying(StoreUnavailableException.class, e -> {
                assertThat(e.reason()).isEqualTo(Reason.CLOSED);
                assertThat(e.mayHaveCharged()).isFalse();
            });
        }
        if (beside != store) {
            assertThat(add(way, beside, key, 1)).isEqualTo(2);
        }
    }

    @Test
    @DisplayName("Rule 14: a key that holds another kind of state is a mismatch")
    void refusesAnotherKindOfState() {
        Store store = opening();
        Strategy<?> strategy = FixedWindow.of(5, Duration.ofDays(3650));
        Tally.Codec otherCodec = new Tally.Codec("another");
        add(Way.FUNCTION, store, key("tally"), 4);
        add(Way.STRATEGY, store, key("gcra"), 4);

        List<Mono<?>> mismatches = List.of(
                store.apply(key("tally"), Tally.adding(otherCodec, 1, Tally.LONG_MICROS)),
                store.apply(key("tally"), Tally.looking(otherCodec)),
                store.apply(key("tally"), strategy.check(1, 1)),
                store.apply(key("gcra"), strategy.check(1, 1)),
                store.apply(key("gcra"), strategy.peek()),
                store.apply(key("gcra"), Tally.adding(codec, 1, Tally.LONG_MICROS)));

        for (Mono<?> mismatch : mismatches) {
            assertThat(awaitError(mismatch)).isInstanceOf(StateMismatchException.class);
        }
        assertThat(look(Way.FUNCTION, store, key("tally"))).isEqualTo(4);
        assertThat(look(Way.STRATEGY, store, key("gcra"))).isEqualTo(4);
    }

    @Test
    @DisplayName("Rule 15: a null argument is an error at the call")
    @SuppressWarnings({"DataFlowIssue", "NullAway"}) // null is what is tried
    void refusesNullAtTheCall() {
        Store store = opening();

        assertThatNullPointerException().isThrownBy(() -> store.apply(null, Tally.looking(codec)));
        assertThatNullPointerException().isThrownBy(() -> store.apply(key("null"), null));
        assertThatNullPointerException().isThrownBy(() -> store.reset(null));
    }

    @Test
    @DisplayName("Rule 16: a Mono signals one value when it is requested and completes, or one error")
    void signalsOnce() {
        Store store = opening();
        String key = key("signals");
        Signals value = new Signals();
        Signals error = new Signals();
        Signals reset = new Signals();

        store.apply(key, Tally.adding(codec, 1, Tally.LONG_MICROS)).subscribe(value);
        look(Way.FUNCTION, store, key);
        assertThat(value.seen).as("signals before a request").containsExactly("onSubscribe");
        value.request(1);
        Transform<Tally, Seen> failing = Tally.changing(codec, (before, now) -> {
            throw new IllegalStateException("fails on purpose");
        });
        store.apply(key, failing).subscribe(error);
        error.request(Long.MAX_VALUE);
        store.reset(key("other")).subscribe(reset);
        reset.request(1);
        for (Signals signals : List.of(value, error, reset)) {
            await(signals.ended.thenReturn(true));
        }
        // Time for what must not come: two more answers of the same store.
        look(Way.FUNCTION, store, key);
        look(Way.STRATEGY, store, key("signals of a strategy"));

        assertThat(value.seen).containsExactly("onSubscribe", "onNext", "onComplete");
        assertThat(error.seen).containsExactly("onSubscribe", "onError");
        assertThat(reset.seen).containsExactly("onSubscribe", "onComplete");
    }

    @Test
    @DisplayName("Rule 17: a codec's bytes come back as they were")
    void keepsAnyBytes() {
        Store store = opening();
        byte[] all = new byte[256];
        byte[] many = new byte[10_240];
        for (int i = 0; i < many.length; i++) {
            all[i % 256] = (byte) i;
            many[i] = (byte) (i * 31 + i / 256);
        }
        List<byte[]> states = List.of(all, new byte[0], many, new byte[] {0}, "1:2".getBytes(UTF_16BE));

        for (byte[] state : states) {
            Bytes bytes = Bytes.of(state);

            assertThat(await(store.apply(key("bytes"), Bytes.keeping(bytes)))).isEqualTo(bytes.hex());
            assertThat(await(store.apply(key("bytes"), Bytes.keeping(null)))).isEqualTo(bytes.hex());
        }
    }

    /** Writes down every signal, in the order it came. */
    private static final class Signals implements CoreSubscriber<Object> {
        private final Queue<String> seen = new ConcurrentLinkedQueue<>();
        private final Sinks.Empty<Void> end = Sinks.empty();
        private final Mono<Void> ended = end.asMono();
        private final AtomicReference<@Nullable Subscription> subscription = new AtomicReference<>();

        void request(long n) {
            Subscription s = subscription.get();
            if (s == null) {
                fail("onSubscribe did not come on the subscriber's thread");
            } else {
                s.request(n);
            }
        }

        @Override
        public Context currentContext() {
            return Context.empty();
        }

        @Override
        public void onSubscribe(Subscription s) {
            seen.add("onSubscribe");
            subscription.set(s);
        }

        @Override
        public void onNext(Object value) {
            seen.add("onNext");
        }

        @Override
        public void onError(Throwable error) {
            seen.add("onError");
            end.tryEmitEmpty();
        }

        @Override
        public void onComplete() {
            seen.add("onComplete");
            end.tryEmitEmpty();
        }
    }
}
