package io.throttlekit.strategy;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.ExactMicros;
import io.throttlekit.ManualClock;
import io.throttlekit.ScalarTransform;
import io.throttlekit.Step;
import io.throttlekit.Strategy;
import io.throttlekit.Transform;
import io.throttlekit.store.MemoryStore;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What one step makes of a state: whether it is another one, how much was taken or given back, and when it is none. */
class StepsTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final long NOW = 1_500_001;

    static Stream<Strategy<?>> fiveUnits() {
        return Stream.of(
                Gcra.of(3, SECOND).withBurst(5),
                TokenBucket.of(5, 3, SECOND),
                FixedWindow.of(5, SECOND),
                SlidingWindow.of(5, SECOND, 2),
                SlidingWindowLog.of(5, SECOND),
                Quota.daily(5));
    }

    private static <S, R> R answer(Transform<S, R> transform, @Nullable S before, long nowMicros) {
        return transform.read(transform.step(before, nowMicros), nowMicros);
    }

    private static <S> @Nullable S take(Strategy<S> strategy, long units) {
        return strategy.check(units, units).step(null, NOW).state();
    }

    private static <S> long remaining(Strategy<S> strategy, @Nullable S state, long nowMicros) {
        return answer(strategy.peek(), state, nowMicros).remaining();
    }

    @ParameterizedTest
    @MethodSource("fiveUnits")
    void theCheckOfOneIsMadeOnce(Strategy<?> strategy) {
        assertThat(strategy.check(1, 1)).isSameAs(strategy.check(1, 1)).isNotSameAs(strategy.check(1, 2));
    }

    @ParameterizedTest
    @MethodSource("fiveUnits")
    <S> void whatIsDeniedLeavesTheVeryState(Strategy<S> strategy) {
        S three = take(strategy, 3);

        for (long cost : new long[] {3, 5, 6, Strategy.MAX_COST}) {
            Step<S> step = strategy.check(cost, cost).step(three, NOW);

            assertThat(step.state()).as("after a check of %d", cost).isSameAs(three);
            assertThat(step.granted()).isZero();
        }
        Step<S> two = strategy.check(1, Strategy.MAX_COST).step(three, NOW);
        assertThat(two.granted()).isEqualTo(2);
        assertThat(remaining(strategy, two.state(), NOW)).isZero();
    }

    @ParameterizedTest
    @MethodSource("fiveUnits")
    <S> void aRefundGivesBackWhatItIsFor(Strategy<S> strategy) {
        S four = take(strategy, 4);

        Step<S> step = strategy.refund(3, null).step(four, NOW);

        assertThat(step.granted()).isEqualTo(3);
        assertThat(strategy.refund(3, null).read(step, NOW)).isTrue();
        assertThat(remaining(strategy, step.state(), NOW)).isEqualTo(4);
    }

    @ParameterizedTest
    @MethodSource("fiveUnits")
    <S> void aRefundOfMoreThanWasTakenLeavesNothingTaken(Strategy<S> strategy) {
        S two = take(strategy, 2);

        for (long cost : new long[] {2, 3, 5, 6, 1L << 52, Strategy.MAX_COST}) {
            S after = strategy.refund(cost, null).step(two, NOW).state();

            assertThat(remaining(strategy, after, NOW)).isEqualTo(5);
            // A full bucket that held more than its capacity would show a moment after it is emptied.
            S empty = strategy.check(5, 5).step(after, NOW).state();
            assertThat(answer(strategy.forecast(1), empty, NOW))
                    .isEqualTo(answer(strategy.forecast(1), take(strategy, 5), NOW));
            assertThat(strategy.check(1, 1).step(empty, NOW).granted()).isZero();
        }
    }

    @Test
    void aCounterTellsHowManyUnitsCameBack() {
        FixedWindow strategy = FixedWindow.of(5, SECOND);

        assertThat(strategy.refund(4, null).step(take(strategy, 2), NOW).granted())
                .isEqualTo(2);
        assertThat(strategy.refund(1, null).step(take(strategy, 2), NOW).granted())
                .isEqualTo(1);
    }

    @ParameterizedTest
    @MethodSource("fiveUnits")
    <S> void nothingTakenIsNothingToGiveBack(Strategy<S> strategy) {
        Transform<S, Boolean> refund = strategy.refund(1, null);
        S one = Objects.requireNonNull(take(strategy, 1));
        long expires = refund.codec().expiresAt(one);

        assertThat(refund.step(null, NOW)).isEqualTo(new Step<S>(null, 0));
        assertThat(answer(refund, null, NOW)).isFalse();
        assertThat(answer(refund, one, expires)).isFalse();
    }

    @ParameterizedTest
    @MethodSource("fiveUnits")
    <S> void aStoreInMemorySaysTheSame(Strategy<S> strategy) {
        ManualClock clock = ManualClock.at(NOW);
        MemoryStore store =
                MemoryStore.builder().clock(clock).sweepInterval(Duration.ZERO).build();
        Transform<S, Boolean> refund = strategy.refund(1, null);

        assertThat(store.applySync("key", refund, NOW)).isFalse();
        store.applySync("key", strategy.check(2, 2), NOW);
        assertThat(store.applySync("key", refund, NOW)).isTrue();
        assertThat(store.applySync("key", strategy.peek(), NOW).remaining()).isEqualTo(4);
        assertThat(store.applySync("key", refund, NOW)).isTrue();
        assertThat(store.applySync("key", refund, NOW)).isFalse();
    }

    @ParameterizedTest
    @MethodSource("fiveUnits")
    <S> void aStateThatHasExpiredIsAsNone(Strategy<S> strategy) {
        S two = Objects.requireNonNull(take(strategy, 2));
        long expires = strategy.peek().codec().expiresAt(two);
        for (long now : new long[] {expires, expires + 1, expires + 1_000, expires + 86_400_000_000L}) {
            Transform<S, Decision> check = strategy.check(1, Strategy.MAX_COST);

            assertThat(check.step(two, now).granted()).isEqualTo(5);
            assertThat(answer(check, two, now)).isEqualTo(answer(check, null, now));
            assertThat(answer(strategy.forecast(1), two, now)).isEqualTo(answer(strategy.forecast(1), null, now));
        }
    }

    @Test
    void aBucketThatFillsBetweenTwoMicrosecondsHoldsItsCapacity() {
        TokenBucket bucket = TokenBucket.of(5, 3, SECOND);
        // One token is a third of a second, so full is reached 333333 and a third microseconds later.
        TokenBucket.State four = take(bucket, 1);

        assertThat(bucket.check(5, 5).step(four, NOW + 333_333).granted()).isZero();
        assertThat(bucket.check(5, 5).step(four, NOW + 333_334).state())
                .isEqualTo(new TokenBucket.State(0, 1_000_000, NOW + 333_334));
    }

    @Test
    void aBucketIsNoFullerThanItsCapacityAfterARefund() {
        TokenBucket bucket = TokenBucket.of(5, 3, SECOND);

        assertThat(bucket.refund(3, null).step(take(bucket, 2), NOW).state())
                .isEqualTo(new TokenBucket.State(5_000_000, 1_000_000, NOW));
    }

    @Test
    void aBucketDescribesItself() {
        assertThat(TokenBucket.of(5, new BigDecimal("1E1"), SECOND))
                .hasToString("TokenBucket[capacity=5, refill=10 per 1000000 us]");
    }

    @Test
    void aRefundInABucketWithoutCountsLeavesTheVeryState() {
        SlidingWindow strategy = SlidingWindow.of(5, SECOND, 2);
        SlidingWindow.State two = take(strategy, 2);

        assertThat(strategy.refund(1, null).step(two, NOW + 500_000).state()).isSameAs(two);
    }

    @Test
    void aSlidingWindowWithoutCountsHasNothingToWaitForWhenTheClockStepsBack() {
        SlidingWindow strategy = SlidingWindow.of(5, SECOND, 2);
        SlidingWindow.State none =
                strategy.refund(2, null).step(take(strategy, 2), NOW).state();

        Decision decision = answer(strategy.check(6, 6), none, NOW - 400_000_000);

        assertThat(decision.exceedsLimit()).isTrue();
        assertThat(decision.retryAfterMs()).isEqualTo(1);
    }

    @SuppressWarnings("unchecked") // Gcra has a compact form always.
    private static <R> ScalarTransform<ExactMicros, R> cell(Transform<ExactMicros, R> transform) {
        return (ScalarTransform<ExactMicros, R>) transform;
    }

    private static long ticksPerMicro(Gcra gcra) {
        return cell(gcra.peek()).ticksPerMicro();
    }

    @Test
    void gcraFitsALongWithFewTicksPerMicrosecondAndAShortBurst() {
        Duration microsecond = Duration.of(1, ChronoUnit.MICROS);
        // 4095 per 1024 us: a burst of 2^50 spans 2^60 ticks.
        Gcra wide = Gcra.of(4_095, Duration.of(1_024, ChronoUnit.MICROS));

        assertThat(ticksPerMicro(Gcra.of(3, SECOND))).isEqualTo(3);
        assertThat(ticksPerMicro(Gcra.of(4_096, microsecond))).isEqualTo(4_096);
        assertThat(ticksPerMicro(Gcra.of(4_097, microsecond))).isZero();
        assertThat(ticksPerMicro(wide.withBurst(1L << 50))).isEqualTo(4_095);
        assertThat(ticksPerMicro(wide.withBurst((1L << 50) + 1))).isZero();
    }

    @Test
    void gcraCountsWhatRemainsInTicks() {
        ScalarTransform<ExactMicros, Decision> peek =
                cell(Gcra.of(3, SECOND).withBurst(5).peek());
        long now = 7;

        assertThat(peek.remainingTicks(ScalarTransform.ABSENT, now)).isEqualTo(5);
        assertThat(peek.remainingTicks(now, now)).isEqualTo(5);
        assertThat(peek.remainingTicks(now + 1, now)).isEqualTo(4);
        assertThat(peek.remainingTicks(now + 2_000_000, now)).isEqualTo(3);
        assertThat(peek.remainingTicks(now + 2_000_001, now)).isEqualTo(2);
        assertThat(peek.remainingTicks(now + 5_000_000, now)).isZero();
        assertThat(peek.remainingTicks(now + 9_000_000, now)).isZero();
    }

    @Test
    void gcraHasNothingToGiveBackOnceItsInstantHasCome() {
        Gcra gcra = Gcra.of(3, SECOND);
        ScalarTransform<ExactMicros, Boolean> refund = cell(gcra.refund(1, null));

        assertThat(refund.next(7, 7, NOW)).isEqualTo(7);
        assertThat(refund.next(8, 7, NOW)).isEqualTo(ScalarTransform.ABSENT);
        assertThat(refund.step(new ExactMicros(NOW, 0, 3), NOW).granted()).isZero();
        assertThat(refund.step(new ExactMicros(NOW, 1, 3), NOW)).isEqualTo(new Step<ExactMicros>(null, 1));
        assertThat(refund.step(new ExactMicros(NOW + 333_333, 2, 3), NOW))
                .isEqualTo(new Step<>(new ExactMicros(NOW, 1, 3), 1));
    }
}
