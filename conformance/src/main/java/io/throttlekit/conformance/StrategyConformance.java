package io.throttlekit.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Clock;
import io.throttlekit.Decision;
import io.throttlekit.Forecast;
import io.throttlekit.ManualClock;
import io.throttlekit.StateCodec;
import io.throttlekit.Step;
import io.throttlekit.Store;
import io.throttlekit.Strategy;
import io.throttlekit.Transform;
import io.throttlekit.conformance.Timeline.Operation;
import io.throttlekit.store.MemoryStore;
import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/**
 * What every {@link Strategy} must do, one test per law and strategy, along random timelines with fixed seeds.
 * Extend it and name your strategies; name a store that runs their programs to try those too.
 *
 * <pre>{@code
 * class MyStrategyTest extends StrategyConformance {
 *     protected Stream<Strategy<?>> strategies() { return Stream.of(new MyStrategy(10), new MyStrategy(1)); }
 *     protected Store open(Clock clock) { return RedisStore...clock(clock).build(); }
 * }
 * }</pre>
 *
 * <ol>
 *   <li>A store decides what the function decides, on whichever path it takes: program, compact or general form.
 *   <li>A denial changes nothing: its step returns the very state it was given.
 *   <li>A state survives the codec: what is read back is equal, and expires and decides the same.
 *   <li>A range grants the largest number in it that a check of that number would be allowed, and decides as that
 *       check; where there is none, it is the denial of the least.
 *   <li>Peek and forecast take nothing and tell the truth: {@code remaining} can be had and one more cannot, a peek is
 *       what a check of 1 would say, and more is available at the forecast's instants and not a millisecond sooner.
 *   <li>A step is pure: repeated, it does the same.
 *   <li>An expired state is as none.
 *   <li>A denied request, alone, succeeds after {@code retryAfter} and not a millisecond sooner, unless it exceeds the
 *       limit.
 *   <li>A refund right after a check restores what it took.
 * </ol>
 *
 * <p>Strategies that do not forecast or refund are excused from that.
 */
@TestInstance(Lifecycle.PER_CLASS)
public abstract class StrategyConformance {
    private static final Duration DEADLINE = Duration.ofSeconds(10);

    /** For JUnit. */
    protected StrategyConformance() {}

    /**
     * The strategies to try. Small limits show more than large ones.
     *
     * @return at least one
     */
    protected abstract Stream<? extends Strategy<?>> strategies();

    /**
     * Opens a store for law 1; it is closed afterwards.
     *
     * @param clock the clock it is to use
     * @return a new store, a {@link MemoryStore} unless overridden
     */
    protected Store open(Clock clock) {
        return MemoryStore.builder().clock(clock).sweepInterval(Duration.ZERO).build();
    }

    /**
     * How many timelines each law is tried on.
     *
     * @return 5 unless overridden
     */
    protected int timelines() {
        return 5;
    }

    /**
     * How many operations a timeline has.
     *
     * @return 200 unless overridden
     */
    protected int operations() {
        return 200;
    }

    /** Looks at a moment of a timeline: the clock has moved and the operation has not happened yet. */
    @FunctionalInterface
    private interface Law<S> {
        void holds(Strategy<S> strategy, Timeline<S> timeline, Operation<S> operation);
    }

    private <S> void everywhere(Strategy<S> strategy, Law<S> law) {
        for (int seed = 0; seed < timelines(); seed++) {
            Timeline<S> timeline = new Timeline<>(strategy, seed);
            for (int i = 0; i < operations(); i++) {
                Operation<S> operation = timeline.next();
                try {
                    law.holds(strategy, timeline, operation);
                } catch (AssertionError e) {
                    throw new AssertionError(
                            strategy.name() + ", timeline " + seed + ", operation " + i + " (" + operation.text()
                                    + ") at " + timeline.now() + " us: " + e.getMessage(),
                            e);
                }
                timeline.play(operation);
            }
        }
    }

    private static <S, R> R answer(Transform<S, R> transform, @Nullable S before, long nowMicros) {
        return transform.read(transform.step(before, nowMicros), nowMicros);
    }

    private static <S> Decision check(Strategy<S> strategy, long cost, @Nullable S before, long nowMicros) {
        return answer(strategy.check(cost, cost), before, nowMicros);
    }

    private static <S> Decision peek(Strategy<S> strategy, @Nullable S before, long nowMicros) {
        return answer(strategy.peek(), before, nowMicros);
    }

    @ParameterizedTest
    @MethodSource("strategies")
    @DisplayName("Law 1: a store decides what the function decides")
    <S> void decidesTheSameOnAStore(Strategy<S> strategy) {
        for (int seed = 0; seed < timelines(); seed++) {
            Timeline<S> timeline = new Timeline<>(strategy, seed);
            ManualClock clock = ManualClock.at(timeline.now());
            Store store = open(clock);
            String key = UUID.randomUUID().toString();
            for (int i = 0; i < operations(); i++) {
                Operation<S> operation = timeline.next();
                clock.set(timeline.now());

                Object got = await(store.apply(key, operation.transform().get()));

                assertThat(got)
                        .as("timeline %d, operation %d (%s) at %d us", seed, i, operation.text(), timeline.now())
                        .isEqualTo(timeline.play(operation));
            }
            StepVerifier.create(store.close()).expectComplete().verify(DEADLINE);
        }
    }

    private static Object await(Mono<?> mono) {
        AtomicReference<Object> answer = new AtomicReference<>();
        StepVerifier.create(mono).consumeNextWith(answer::set).expectComplete().verify(DEADLINE);
        return Objects.requireNonNull(answer.get());
    }

    @ParameterizedTest
    @MethodSource("strategies")
    @DisplayName("Law 2: a denial changes nothing")
    void denialChangesNothing(Strategy<?> strategy) {
        everywhere(strategy, StrategyConformance::denialChangesNothing);
    }

    private static <S> void denialChangesNothing(Strategy<S> strategy, Timeline<S> timeline, Operation<S> operation) {
        S before = timeline.state();
        Transform<S, Decision> check = strategy.check(timeline.cost(), Strategy.MAX_COST);

        Step<S> step = check.step(before, timeline.now());

        Decision decision = check.read(step, timeline.now());
        assertThat(step.granted()).as("granted by the step").isEqualTo(decision.granted());
        if (!decision.allowed()) {
            assertThat(step.state()).as("the state after a denial").isSameAs(before);
        }
    }

    @ParameterizedTest
    @MethodSource("strategies")
    @DisplayName("Law 3: a state survives the codec")
    void stateSurvivesTheCodec(Strategy<?> strategy) {
        everywhere(strategy, StrategyConformance::stateSurvivesTheCodec);
    }

    private static <S> void stateSurvivesTheCodec(Strategy<S> strategy, Timeline<S> timeline, Operation<S> operation) {
        Transform<S, Decision> check = strategy.check(1, timeline.cost());
        S after = check.step(timeline.state(), timeline.now()).state();
        if (after == null) {
            return;
        }
        StateCodec<S> codec = check.codec();

        S read = codec.decode(codec.encode(after));

        assertThat(read).as("the state that was read back").isEqualTo(after);
        assertThat(codec.encode(read)).as("what it is written as").isEqualTo(codec.encode(after));
        assertThat(codec.expiresAt(read)).as("when it expires").isEqualTo(codec.expiresAt(after));
        assertThat(codec.remaining(read, timeline.now()))
                .as("remaining")
                .isEqualTo(codec.remaining(after, timeline.now()));
        assertThat(peek(strategy, read, timeline.now())).isEqualTo(peek(strategy, after, timeline.now()));
    }

    @ParameterizedTest
    @MethodSource("strategies")
    @DisplayName("Law 4: a range grants the largest number that can be had")
    void rangeGrantsTheLargest(Strategy<?> strategy) {
        everywhere(strategy, StrategyConformance::rangeGrantsTheLargest);
    }

    private static <S> void rangeGrantsTheLargest(Strategy<S> strategy, Timeline<S> timeline, Operation<S> operation) {
        S before = timeline.state();
        long now = timeline.now();
        long a = timeline.cost();
        long b = timeline.cost();
        long min = Math.min(a, b);
        long max = Math.max(a, b);

        Decision decision = answer(strategy.check(min, max), before, now);

        long granted = decision.granted();
        if (granted == 0) {
            assertThat(decision).as("the denial of %d", min).isEqualTo(check(strategy, min, before, now));
            assertThat(decision.allowed()).isFalse();
        } else {
            assertThat(granted).isBetween(min, max);
            assertThat(decision).as("the check of %d", granted).isEqualTo(check(strategy, granted, before, now));
            if (granted < max) {
                assertThat(check(strategy, granted + 1, before, now).allowed())
                        .as("a check of one more than %d", granted)
                        .isFalse();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("strategies")
    @DisplayName("Law 5: peek and forecast take nothing and tell the truth")
    void looksTellTheTruth(Strategy<?> strategy) {
        everywhere(strategy, StrategyConformance::looksTellTheTruth);
    }

    private static <S> void looksTellTheTruth(Strategy<S> strategy, Timeline<S> timeline, Operation<S> operation) {
        S before = timeline.state();
        long now = timeline.now();
        Transform<S, Decision> peek = strategy.peek();

        Step<S> step = peek.step(before, now);

        assertThat(step.state()).as("the state after a peek").isSameAs(before);
        Decision seen = peek.read(step, now);
        long remaining = seen.remaining();
        assertThat(seen.granted()).isZero();
        assertThat(seen.limit()).isEqualTo(strategy.limit());
        assertThat(remaining).isBetween(0L, strategy.limit());
        assertThat(check(strategy, remaining + 1, before, now).allowed())
                .as("a check of one more than remaining")
                .isFalse();
        if (remaining > 0) {
            Decision all = check(strategy, remaining, before, now);
            assertThat(all.allowed()).as("a check of all that remains").isTrue();
            assertThat(all.remaining()).isZero();
            assertThat(seen.allowed()).as("a peek while something remains").isTrue();
        } else {
            assertThat(seen).isEqualTo(check(strategy, 1, before, now));
        }
        if (timeline.forecasts()) {
            forecastTellsTheTruth(strategy, timeline, before, remaining);
        }
    }

    private static <S> void forecastTellsTheTruth(
            Strategy<S> strategy, Timeline<S> timeline, @Nullable S before, long remaining) {
        long now = timeline.now();
        long cost = timeline.cost();
        Transform<S, Forecast> look = strategy.forecast(cost);

        Step<S> step = look.step(before, now);

        assertThat(step.state()).as("the state after a forecast").isSameAs(before);
        Forecast forecast = look.read(step, now);
        assertThat(forecast.spendableNow()).isEqualTo(remaining / cost);
        if (remaining < strategy.limit()) {
            long next = forecast.nextReplenishAtMs() * 1000;
            long full = forecast.fullAtMs() * 1000;
            assertThat(remainingAt(strategy, timeline, before, next))
                    .as("remaining when there is more")
                    .isGreaterThan(remaining);
            assertThat(remainingAt(strategy, timeline, before, Math.max(now, next - 1000)))
                    .as("remaining a millisecond sooner")
                    .isEqualTo(remaining);
            assertThat(remainingAt(strategy, timeline, before, full))
                    .as("remaining when it is full")
                    .isEqualTo(strategy.limit());
        }
    }

    private static <S> long remainingAt(Strategy<S> strategy, Timeline<S> timeline, @Nullable S state, long micros) {
        return peek(strategy, timeline.alive(state, micros), micros).remaining();
    }

    @ParameterizedTest
    @MethodSource("strategies")
    @DisplayName("Law 6: a step repeated does the same")
    void stepIsPure(Strategy<?> strategy) {
        everywhere(
                strategy,
                (any, timeline, operation) ->
                        stepIsPure(timeline, operation.transform().get()));
    }

    private static <S, R> void stepIsPure(Timeline<S> timeline, Transform<S, R> transform) {
        S before = timeline.state();
        long now = timeline.now();
        StateCodec<S> codec = transform.codec();
        byte[] kept = before == null ? null : codec.encode(before);

        Step<S> first = transform.step(before, now);
        Step<S> second = transform.step(before, now);

        assertThat(second.granted()).as("granted by the second step").isEqualTo(first.granted());
        assertThat(encoded(codec, second.state()))
                .as("the state after the second")
                .isEqualTo(encoded(codec, first.state()));
        assertThat(transform.read(second, now)).as("the second answer").isEqualTo(transform.read(first, now));
        assertThat(encoded(codec, before)).as("the state before").isEqualTo(kept);
    }

    private static <S> byte @Nullable [] encoded(StateCodec<S> codec, @Nullable S state) {
        return state == null ? null : codec.encode(state);
    }

    @ParameterizedTest
    @MethodSource("strategies")
    @DisplayName("Law 7: an expired state is as none")
    void expiredIsAbsent(Strategy<?> strategy) {
        everywhere(strategy, StrategyConformance::expiredIsAbsent);
    }

    private static <S> void expiredIsAbsent(Strategy<S> strategy, Timeline<S> timeline, Operation<S> operation) {
        S state = timeline.state();
        if (state == null) {
            return;
        }
        long expires = operation.transform().get().codec().expiresAt(state);
        for (long later : new long[] {0, 1, 1_000, 86_400_000_000L}) {
            long now = expires + later;

            assertThat(answer(operation.transform().get(), state, now))
                    .as("the answer %d us after the state expired", later)
                    .isEqualTo(answer(operation.transform().get(), null, now));
            assertThat(peek(strategy, state, now)).isEqualTo(peek(strategy, null, now));
        }
    }

    @ParameterizedTest
    @MethodSource("strategies")
    @DisplayName("Law 8: a wait is exact")
    void waitIsExact(Strategy<?> strategy) {
        everywhere(strategy, StrategyConformance::waitIsExact);
    }

    private static <S> void waitIsExact(Strategy<S> strategy, Timeline<S> timeline, Operation<S> operation) {
        S before = timeline.state();
        long now = timeline.now();
        long cost = timeline.cost();
        Decision decision = check(strategy, cost, before, now);
        assertThat(decision.exceedsLimit()).isEqualTo(cost > strategy.limit());
        if (decision.allowed()) {
            assertThat(decision.retryAfterMs()).isZero();
            return;
        }
        assertThat(decision.retryAfterMs()).isPositive();
        if (decision.exceedsLimit()) {
            return;
        }
        long then = now + decision.retryAfterMs() * 1000;

        assertThat(check(strategy, cost, timeline.alive(before, then), then).allowed())
                .as("cost %d after its wait of %d ms", cost, decision.retryAfterMs())
                .isTrue();
        assertThat(check(strategy, cost, timeline.alive(before, then - 1000), then - 1000)
                        .allowed())
                .as("cost %d a millisecond sooner than its wait of %d ms", cost, decision.retryAfterMs())
                .isFalse();
    }

    @ParameterizedTest
    @MethodSource("strategies")
    @DisplayName("Law 9: a refund right after a check restores what it took")
    void refundRestores(Strategy<?> strategy) {
        everywhere(strategy, StrategyConformance::refundRestores);
    }

    private static <S> void refundRestores(Strategy<S> strategy, Timeline<S> timeline, Operation<S> operation) {
        if (!timeline.refunds()) {
            return;
        }
        S before = timeline.state();
        long now = timeline.now();
        Transform<S, Decision> check = strategy.check(1, timeline.cost());
        Step<S> taken = check.step(before, now);
        Decision decision = check.read(taken, now);
        if (!decision.allowed()) {
            return;
        }

        Step<S> restored = strategy.refund(decision.granted(), decision).step(timeline.alive(taken.state(), now), now);

        assertThat(restored.granted()).as("given back").isEqualTo(decision.granted());
        S after = timeline.alive(restored.state(), now);
        assertThat(peek(strategy, after, now).remaining())
                .as("remaining after %d were taken and given back", decision.granted())
                .isEqualTo(peek(strategy, before, now).remaining());
        if (timeline.forecasts()) {
            assertThat(answer(strategy.forecast(1), after, now)).isEqualTo(answer(strategy.forecast(1), before, now));
        }
    }
}
