package io.throttlekit.strategy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.throttlekit.Strategy;
import java.math.BigDecimal;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What strategies are built of, up to the last value that they take and from the first that they refuse. */
class ArgumentsTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MICROSECOND = micros(1);
    private static final long MOST = Strategy.MAX_COST;
    /** The longest span: 2^52 microseconds, or the whole milliseconds in it. */
    private static final long MOST_MICROS = 1L << 52;

    private static final long MOST_MS = MOST_MICROS / 1000;

    private static Duration micros(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }

    private static void refuses(ThrowingCallable build, String message) {
        assertThatIllegalArgumentException().isThrownBy(build).withMessage(message);
    }

    private static void is(Strategy<?> strategy, String name, long limit, @Nullable Duration window) {
        assertThat(strategy.name()).isEqualTo(name);
        assertThat(strategy.limit()).isEqualTo(limit);
        assertThat(strategy.window()).isEqualTo(window);
    }

    @Test
    void aStrategyTellsItsNameItsLimitAndItsWindow() {
        is(Gcra.of(5, SECOND), "gcra", 5, SECOND);
        is(Gcra.of(5, SECOND).withBurst(7), "gcra", 7, SECOND);
        is(TokenBucket.of(5, 2, SECOND), "tokenBucket", 5, micros(2_500_000));
        is(TokenBucket.of(5, 3, SECOND), "tokenBucket", 5, micros(1_666_667));
        is(FixedWindow.of(5, SECOND), "fixedWindow", 5, SECOND);
        is(SlidingWindow.of(5, SECOND), "slidingWindow", 5, SECOND);
        is(SlidingWindowLog.of(5, SECOND), "slidingWindowLog", 5, SECOND);
        is(Quota.monthly(5), "quota", 5, null);
        is(Quota.fixed(5, SECOND), "quota", 5, SECOND);
        is(Quota.rolling(5, SECOND), "quota", 5, SECOND);
    }

    @Test
    void limitIsFromOneToTheLargestCost() {
        List<LongFunction<Strategy<?>>> makers = List.of(
                limit -> FixedWindow.of(limit, SECOND),
                Quota::monthly,
                Quota::weekly,
                Quota::daily,
                limit -> Quota.fixed(limit, SECOND));
        for (LongFunction<Strategy<?>> maker : makers) {
            assertThat(maker.apply(1).limit()).isEqualTo(1);
            assertThat(maker.apply(MOST).limit()).isEqualTo(MOST);
            refuses(() -> maker.apply(0), "limit must be at least 1 and at most 9007199254740991, was 0");
            refuses(
                    () -> maker.apply(MOST + 1),
                    "limit must be at least 1 and at most 9007199254740991, was 9007199254740992");
        }
        refuses(() -> Gcra.of(0, SECOND), "limit must be at least 1 and at most 9007199254740991, was 0");
        refuses(() -> Gcra.of(5, SECOND).withBurst(0), "burst must be at least 1 and at most 9007199254740991, was 0");
        refuses(() -> TokenBucket.of(0, 1, SECOND), "capacity must be at least 1 and at most 9007199254740991, was 0");
        refuses(
                () -> TokenBucket.of(1, 0, SECOND),
                "refillTokens must be at least 1 and at most 9007199254740991, was 0");
        refuses(() -> SlidingWindow.of(0, SECOND), "limit must be at least 1 and at most 9007199254740991, was 0");
        refuses(() -> SlidingWindowLog.of(0, SECOND), "limit must be at least 1 and at most 9007199254740991, was 0");
    }

    @Test
    void logHoldsNoMoreThanAnArrayCouldIndex() {
        assertThat(SlidingWindowLog.of(536_870_911, SECOND).limit()).isEqualTo(536_870_911);
        refuses(
                () -> SlidingWindowLog.of(536_870_912, SECOND),
                "limit must be at most 536870911 for a log, was 536870912");
    }

    @Test
    void windowIsOfWholeMillisecondsAndAtMost142Years() {
        List<Consumer<Duration>> makers = List.of(
                window -> FixedWindow.of(1, window),
                window -> SlidingWindow.of(1, window),
                window -> SlidingWindowLog.of(1, window));
        for (Consumer<Duration> maker : makers) {
            maker.accept(Duration.ofMillis(1));
            maker.accept(Duration.ofMillis(MOST_MS));
            refuses(
                    () -> maker.accept(Duration.ZERO),
                    "window must be more than 0 and at most 4503599627370 millis (142 years), was PT0S");
            refuses(
                    () -> maker.accept(Duration.ofMillis(-1)),
                    "window must be more than 0 and at most 4503599627370 millis (142 years), was PT-0.001S");
            refuses(
                    () -> maker.accept(Duration.ofMillis(MOST_MS).plusNanos(1)),
                    "window must be more than 0 and at most 4503599627370 millis (142 years), was "
                            + Duration.ofMillis(MOST_MS).plusNanos(1));
            refuses(() -> maker.accept(micros(1_500)), "window must be a whole number of millis, was PT0.0015S");
        }
        refuses(() -> Quota.fixed(1, micros(1_500)), "period must be a whole number of millis, was PT0.0015S");
    }

    @Test
    void periodIsOfWholeMicrosecondsAndAtMost142Years() {
        List<Consumer<Duration>> makers =
                List.of(period -> Gcra.of(1, period), period -> TokenBucket.of(1, 1 << 13, period));
        for (Consumer<Duration> maker : makers) {
            maker.accept(MICROSECOND);
            maker.accept(micros(MOST_MICROS));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> maker.accept(micros(MOST_MICROS + 1)))
                    .withMessageContaining(
                            "must be more than 0 and at most 4503599627370496 micros (142 years), was PT1250999H");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> maker.accept(Duration.ofNanos(1_001)))
                    .withMessageContaining("must be a whole number of micros, was PT0.000001001S");
        }
    }

    @Test
    void bucketsAreFrom1To1000() {
        SlidingWindow.of(1, SECOND, 1);
        SlidingWindow.of(1, SECOND, 1000);

        refuses(() -> SlidingWindow.of(1, SECOND, 0), "buckets must be from 1 to 1000, was 0");
        refuses(() -> Quota.rolling(1, SECOND, 1001), "buckets must be from 1 to 1000, was 1001");
    }

    @Test
    void slidingWindowRefusesAProductThatNoLongHolds() {
        // 2^20 ms and 2^42 - 1 units are just below 2^62.
        Duration window = Duration.ofMillis(1 << 20);

        assertThat(SlidingWindow.of((1L << 42) - 1, window).limit()).isEqualTo((1L << 42) - 1);
        refuses(
                () -> SlidingWindow.of(1L << 42, window),
                "limit 4398046511104 times window 1048576 ms cannot be kept exact: it must be below 2^62");
    }

    @Test
    void decimalRateIsTakenAsItIsWritten() {
        is(Gcra.perSecond(10_000_000), "gcra", 10_000_000, SECOND);
        is(Gcra.of(new BigDecimal("1E3"), SECOND), "gcra", 1_000, SECOND);
        is(Gcra.of(new BigDecimal("0.1"), SECOND), "gcra", 1, SECOND);
        is(Gcra.of(new BigDecimal("2.9"), SECOND), "gcra", 2, SECOND);
        is(TokenBucket.perSecond(10, 2.5), "tokenBucket", 10, Duration.ofSeconds(4));
        is(TokenBucket.of(10, new BigDecimal("1E1"), SECOND), "tokenBucket", 10, SECOND);
    }

    @Test
    void decimalRateIsAPositiveNumberOfAtMost40Digits() {
        refuses(() -> Gcra.perSecond(0), "limit must be more than 0, was 0.0");
        refuses(() -> Gcra.perSecond(-2.5), "limit must be more than 0, was -2.5");
        refuses(() -> Gcra.perSecond(Double.NaN), "limit must be a finite number, was NaN");
        refuses(() -> Gcra.perSecond(Double.POSITIVE_INFINITY), "limit must be a finite number, was Infinity");
        refuses(() -> TokenBucket.perSecond(1, Double.NaN), "refillPerSecond must be a finite number, was NaN");
        refuses(() -> TokenBucket.of(1, BigDecimal.ZERO, SECOND), "refillTokens must be more than 0, was 0");
        // A number that would take a gigabyte to write out is refused without doing so.
        for (String tooLong : List.of("1E-41", "1E+41", "1E+999999999", "1." + "0".repeat(39) + "1")) {
            refuses(
                    () -> Gcra.of(new BigDecimal(tooLong), SECOND),
                    "limit must have at most 40 digits, was " + tooLong);
        }
        for (String longest : List.of("1E-40", "1E+40", "1." + "0".repeat(38) + "1")) {
            assertThat(Exact.positive("limit", new BigDecimal(longest))).isEqualTo(new BigDecimal(longest));
        }
    }

    @Test
    void rateThatCannotBeKeptExactIsRefusedWithItsNumbers() {
        // 2^31 per microsecond: 2^31 ticks of the burst's 2^31 units are 2^62, twice the burst is one bit too many.
        Gcra fast = Gcra.of(1L << 31, MICROSECOND);
        refuses(
                () -> fast.withBurst(1L << 32),
                "limit 2147483648 per 1 us with burst 4294967296 cannot be kept exact: its interval is 1/2147483648 us,"
                        + " and burst times 2147483648 must be below 2^63");
        assertThat(fast.withBurst((1L << 32) - 1).limit()).isEqualTo((1L << 32) - 1);

        // Intervals of 5·10^18/3001 and 10^19/3001 microseconds, the latter beyond 2^63 ticks.
        Gcra.of(new BigDecimal("3001E-13"), Duration.ofMillis(500));
        refuses(
                () -> Gcra.of(new BigDecimal("3001E-13"), SECOND),
                "limit 0.0000000003001 per 1000000 us with burst 1 cannot be kept exact: its interval is"
                        + " 10000000000000000000/3001 us, and burst times 3001 must be below 2^63");
    }

    @Test
    void rateWhoseIntervalHasTooLargeADenominatorIsRefused() {
        BigDecimal most = new BigDecimal("1E12");

        assertThat(Interval.of("limit", most, 1, "burst", 1).perMicro).isEqualTo(1_000_000_000_000L);
        refuses(
                () -> Interval.of("limit", most.add(BigDecimal.ONE), 1, "burst", 1),
                "limit 1000000000001 per 1 us cannot be kept exact: its interval is 1/1000000000001 us, and the"
                        + " denominator must be at most 1000000000000");
    }

    @Test
    void burstSpansAtMost142Years() {
        Gcra slow = Gcra.of(1, micros(MOST_MICROS / 2));

        assertThat(slow.withBurst(2).limit()).isEqualTo(2);
        refuses(
                () -> slow.withBurst(3),
                "limit 1 per 2251799813685248 us with burst 3 spans more than 4503599627370496 us (142 years)");
    }

    @Test
    void refillThatCannotBeKeptExactIsRefusedWithItsNumbers() {
        Duration most = micros(1_000_000_000_000L);

        assertThat(TokenBucket.of(1, 1, most).window()).isEqualTo(most);
        refuses(
                () -> TokenBucket.of(1, 1, most.plus(MICROSECOND)),
                "refillTokens 1 per 1000000000001 us cannot be kept exact: it is 1/1000000000001 tokens per us, and the"
                        + " denominator must be at most 1000000000000");
        // Grains per microsecond fit 62 bits, with one to spare for what is added to them.
        TokenBucket.of(1, BigDecimal.valueOf((1L << 62) - 1), MICROSECOND);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TokenBucket.of(1, BigDecimal.valueOf(1L << 62), MICROSECOND))
                .withMessageContaining("cannot be kept exact: it is 4611686018427387904/1 tokens per us");
        // 2^52 tokens of 2^11 grains are 2^63, one grain too many.
        Duration period = micros(1 << 11);
        assertThat(TokenBucket.of((1L << 52) - 1, 4097, period).limit()).isEqualTo((1L << 52) - 1);
        refuses(
                () -> TokenBucket.of(1L << 52, 4097, period),
                "refillTokens 4097 per 2048 us with capacity 4503599627370496 cannot be kept exact: capacity times 2048"
                        + " must be below 2^63");
    }

    @Test
    void bucketFillsWithin142Years() {
        Duration period = micros(1L << 39);

        assertThat(TokenBucket.of(1 << 13, 1, period).window()).isEqualTo(micros(MOST_MICROS));
        refuses(
                () -> TokenBucket.of((1 << 13) + 1, 1, period),
                "refillTokens 1 per 549755813888 us takes more than 142 years to fill capacity 8193");
    }

    @Test
    void costIsFromOneToTheLargestAndItsRangeInOrder() {
        List<Strategy<?>> strategies = List.of(
                Gcra.of(5, SECOND),
                TokenBucket.of(5, 5, SECOND),
                FixedWindow.of(5, SECOND),
                SlidingWindow.of(5, SECOND),
                SlidingWindowLog.of(5, SECOND),
                Quota.daily(5));
        for (Strategy<?> strategy : strategies) {
            strategy.check(1, MOST);
            strategy.check(MOST, MOST);
            strategy.forecast(MOST);
            strategy.refund(MOST, null);

            refuses(() -> strategy.check(0, 0), "cost must be from 1 to 9007199254740991, was 0");
            refuses(
                    () -> strategy.check(MOST + 1, MOST + 1),
                    "cost must be from 1 to 9007199254740991, was " + (MOST + 1));
            refuses(
                    () -> strategy.check(0, 1),
                    "cost must be from 1 to 9007199254740991 and min at most max, was [0, 1]");
            refuses(
                    () -> strategy.check(1, 0),
                    "cost must be from 1 to 9007199254740991 and min at most max, was [1, 0]");
            refuses(
                    () -> strategy.check(1, MOST + 1),
                    "cost must be from 1 to 9007199254740991 and min at most max, was [1, 9007199254740992]");
            refuses(() -> strategy.forecast(0), "cost must be from 1 to 9007199254740991, was 0");
            refuses(() -> strategy.refund(0, null), "cost must be from 1 to 9007199254740991, was 0");
        }
    }

    @Test
    void quotaTakesTheOptionsOfItsKindOnly() {
        Quota fixed = Quota.fixed(5, SECOND);
        ZoneId cairo = ZoneId.of("Africa/Cairo");

        assertThatIllegalStateException()
                .isThrownBy(() -> fixed.in(cairo))
                .withMessage("in(zone) is for a calendar quota");
        for (Quota noWeeks : List.of(Quota.monthly(5), Quota.daily(5), fixed)) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> noWeeks.startingOn(DayOfWeek.SUNDAY))
                    .withMessage("startingOn(day) is for a weekly quota");
        }
        for (Quota calendar : List.of(Quota.monthly(5), Quota.weekly(5), Quota.daily(5))) {
            assertThat(calendar.in(cairo).limit()).isEqualTo(5);
            assertThatIllegalStateException()
                    .isThrownBy(() -> calendar.anchoredAt(Instant.EPOCH))
                    .withMessage("anchoredAt(instant) is for a fixed quota");
        }
    }

    @Test
    @SuppressWarnings("NullAway") // Callers without a null checker do this.
    void quotaNamesTheOptionThatIsNull() {
        assertThatNullPointerException()
                .isThrownBy(() -> Quota.daily(5).in(null))
                .withMessage("zone");
        assertThatNullPointerException()
                .isThrownBy(() -> Quota.weekly(5).startingOn(null))
                .withMessage("firstDay");
    }

    @Test
    void anchorLiesWithin2To52MillisecondsOfTheEpoch() {
        Quota quota = Quota.fixed(5, SECOND);
        for (long most : new long[] {MOST_MICROS, -MOST_MICROS}) {
            assertThat(quota.anchoredAt(Instant.ofEpochMilli(most)).window()).isEqualTo(SECOND);
        }

        for (Instant far : List.of(
                Instant.ofEpochMilli(MOST_MICROS + 1),
                Instant.ofEpochMilli(-MOST_MICROS).minusNanos(1),
                Instant.MAX,
                Instant.MIN)) {
            refuses(() -> quota.anchoredAt(far), "anchor must be within 2^52 ms of the epoch, was " + far);
        }
    }
}
