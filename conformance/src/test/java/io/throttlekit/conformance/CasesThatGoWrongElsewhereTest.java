package io.throttlekit.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.throttlekit.Clock;
import io.throttlekit.Decision;
import io.throttlekit.ManualClock;
import io.throttlekit.Strategy;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.Quota;
import io.throttlekit.strategy.SlidingWindow;
import io.throttlekit.strategy.SlidingWindowLog;
import io.throttlekit.strategy.TokenBucket;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/** Cases that one library or another is known to get wrong: rounding, edges, clocks, calendars. */
class CasesThatGoWrongElsewhereTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final String KEY = "key";

    private final ManualClock clock = ManualClock.at(0);

    private Limiter limiter(Strategy<?> strategy) {
        return limiter(strategy, clock);
    }

    private static Limiter limiter(Strategy<?> strategy, Clock clock) {
        return Limiter.builder(strategy)
                .store(MemoryStore.builder()
                        .clock(clock)
                        .sweepInterval(Duration.ZERO)
                        .build())
                .build();
    }

    private void setMs(long ms) {
        clock.set(ms * 1000);
    }

    private static int admitted(Limiter limiter, int calls) {
        int admitted = 0;
        for (int i = 0; i < calls; i++) {
            admitted += limiter.checkSync(KEY).allowed() ? 1 : 0;
        }
        return admitted;
    }

    @Test
    void gcraAdmitsTheWholeBurstOfAColdKeyAtTodaysEpoch() {
        setMs(1_759_996_572_738L);
        Limiter limiter = limiter(Gcra.of(27, SECOND));

        assertThat(admitted(limiter, 27)).isEqualTo(27);
        assertThat(limiter.checkSync(KEY).allowed()).isFalse();
    }

    @Test
    void gcraCountsHalfMilliseconds() {
        Limiter limiter = limiter(Gcra.of(2_000, SECOND).withBurst(1));
        setMs(1_759_996_572_738L);

        assertThat(limiter.checkSync(KEY).allowed()).isTrue();
        assertThat(limiter.checkSync(KEY).allowed()).isFalse();

        clock.advance(Duration.ofNanos(500_000));
        assertThat(limiter.checkSync(KEY).allowed()).isTrue();
    }

    @Test
    void gcraDeniesAtRatesOfManyMillions() {
        setMs(1_759_996_572_738L);
        Limiter limiter = limiter(Gcra.of(20_000_000, SECOND));

        assertThat(limiter.checkUpToSync(KEY, 1, 19_990_000).granted()).isEqualTo(19_990_000);
        assertThat(admitted(limiter, 10_000)).isEqualTo(10_000);
        assertThat(limiter.checkSync(KEY).allowed()).isFalse();
    }

    @Test
    void tokenBucketRefillsNothingTwiceWhenTheClockStepsBack() {
        Limiter limiter = limiter(TokenBucket.of(5, 5, SECOND));
        long start = 1_759_996_572_738L;

        setMs(start);
        int admitted = admitted(limiter, 5);
        setMs(start + 1_000);
        admitted += admitted(limiter, 4);
        setMs(start);
        admitted += admitted(limiter, 1);
        setMs(start + 1_000);
        admitted += admitted(limiter, 5);

        assertThat(admitted).isEqualTo(10);
    }

    @Test
    void logAdmitsTheLimitWhileTheClockStandsStill() {
        setMs(1_759_996_572_738L);
        Limiter limiter = limiter(SlidingWindowLog.of(5, Duration.ofSeconds(60)));

        assertThat(admitted(limiter, 20)).isEqualTo(5);
    }

    @Test
    void gcraSaysWhatCanNeverSucceed() {
        Limiter limiter = limiter(Gcra.of(5, Duration.ofSeconds(60)));
        limiter.checkSync(KEY, 1);
        setMs(120_000);

        Decision tooMuch = limiter.checkSync(KEY, 6);
        Decision all = limiter.checkSync(KEY, 5);

        assertThat(tooMuch.allowed()).isFalse();
        assertThat(tooMuch.exceedsLimit()).isTrue();
        assertThat(tooMuch.remaining()).isEqualTo(5);
        assertThat(all.allowed()).isTrue();
    }

    @Test
    void slidingWindowRemembersTheWholeWindow() {
        Limiter limiter = limiter(SlidingWindow.of(1, SECOND));
        setMs(500);
        limiter.checkSync(KEY);

        setMs(1_500);

        assertThat(limiter.checkSync(KEY).allowed()).isFalse();
    }

    @Test
    void slidingWindowTellsTheExactWait() {
        Limiter limiter = limiter(SlidingWindow.of(10, SECOND, 10));
        setMs(0);
        limiter.checkSync(KEY, 6);
        setMs(500);
        limiter.checkSync(KEY, 4);

        assertThat(limiter.checkSync(KEY, 1).retryAfterMs()).isEqualTo(517);
    }

    private static List<Strategy<?>> tenASecond() {
        return List.of(
                Gcra.of(10, SECOND),
                TokenBucket.of(10, 10, SECOND),
                FixedWindow.of(10, SECOND),
                SlidingWindow.of(10, SECOND),
                SlidingWindowLog.of(10, SECOND),
                Quota.fixed(10, SECOND),
                Quota.rolling(10, SECOND));
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1_000_000_000, 0, Long.MAX_VALUE - 1_500_000_000, Long.MAX_VALUE})
    void clockMayStartAtAnyNanoTime(long nanosAtStart) {
        for (Strategy<?> strategy : tenASecond()) {
            NanoScheduler scheduler = new NanoScheduler(nanosAtStart);
            Limiter limiter = limiter(strategy, Clock.of(scheduler));

            assertThat(admitted(limiter, 20)).as(strategy.name()).isEqualTo(10);
            scheduler.elapsed = Duration.ofSeconds(2).toNanos();
            assertThat(admitted(limiter, 20)).as(strategy.name()).isEqualTo(10);
        }
    }

    /** A scheduler that only tells the time. */
    private static final class NanoScheduler implements Scheduler {
        private final long nanosAtStart;
        private long elapsed;

        NanoScheduler(long nanosAtStart) {
            this.nanosAtStart = nanosAtStart;
        }

        @Override
        public long now(TimeUnit unit) {
            return unit == TimeUnit.NANOSECONDS
                    ? nanosAtStart + elapsed
                    : unit.convert(1_759_996_572_000L + elapsed / 1_000_000, TimeUnit.MILLISECONDS);
        }

        @Override
        public Disposable schedule(Runnable task) {
            throw new UnsupportedOperationException("only tells the time");
        }

        @Override
        public Worker createWorker() {
            throw new UnsupportedOperationException("only tells the time");
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {-6_000_000_000_000_000L, 0, 1_759_996_572_738_000L})
    void keyMayBeIdleForCenturies(long epochMicros) {
        Duration threeCenturies = Duration.ofDays(300 * 366);
        for (Strategy<?> strategy : tenASecond()) {
            clock.set(epochMicros);
            Limiter limiter = limiter(strategy);
            for (int i = 0; i < 20; i++) {
                assertThat(admitted(limiter, 20)).as(strategy.name()).isEqualTo(10);
                clock.advance(threeCenturies);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, Long.MIN_VALUE + 1, Long.MAX_VALUE - 1, Long.MAX_VALUE})
    void clockAtTheEndOfItsRangeIsAnErrorOrRight(long micros) {
        for (Strategy<?> strategy : tenASecond()) {
            setMs(0);
            Limiter limiter = limiter(strategy);
            clock.set(micros);
            int admitted = 0;
            try {
                admitted = admitted(limiter, 20);
            } catch (ArithmeticException e) {
                continue;
            }
            assertThat(admitted).as(strategy.name()).isEqualTo(10);
        }
    }

    @Test
    void costOfAnySizeIsAnErrorOrRight() {
        for (Strategy<?> strategy : tenASecond()) {
            setMs(1_759_996_572_738L);
            Limiter limiter = limiter(strategy);

            Decision most = limiter.checkSync(KEY, Strategy.MAX_COST);

            assertThat(most.allowed()).as(strategy.name()).isFalse();
            assertThat(most.exceedsLimit()).isTrue();
            assertThat(most.remaining()).isEqualTo(10);
            assertThat(most.retryAfterMs()).isPositive();
            for (long cost : new long[] {Long.MIN_VALUE, -1, 0, Strategy.MAX_COST + 1, Long.MAX_VALUE}) {
                assertThatIllegalArgumentException().isThrownBy(() -> limiter.checkSync(KEY, cost));
                assertThatIllegalArgumentException().isThrownBy(() -> limiter.checkUpToSync(KEY, 1, cost));
                assertThatIllegalArgumentException().isThrownBy(() -> limiter.refundSync(KEY, cost, null));
                assertThatIllegalArgumentException().isThrownBy(() -> limiter.forecastSync(KEY, cost));
            }
            assertThat(limiter.peekSync(KEY).remaining()).isEqualTo(10);
        }
    }

    @Test
    void durationOfAnySizeIsAnErrorOrRight() {
        List<Consumer<Duration>> makers = List.of(
                period -> Gcra.of(1, period),
                period -> TokenBucket.of(1, 1, period),
                period -> FixedWindow.of(1, period),
                period -> SlidingWindow.of(1, period),
                period -> SlidingWindowLog.of(1, period),
                period -> Quota.fixed(1, period),
                period -> Quota.rolling(1, period));
        List<Duration> tooLong = List.of(
                Duration.ofSeconds(Long.MAX_VALUE),
                Duration.ofMillis(Long.MAX_VALUE),
                Duration.ofNanos(Long.MAX_VALUE - 775_807),
                Duration.ofSeconds(Long.MIN_VALUE));

        for (Consumer<Duration> maker : makers) {
            for (Duration duration : tooLong) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> maker.accept(duration))
                        .withMessageContaining("must be");
            }
        }
    }

    @Test
    void dayBeginsLaterWhereMidnightDoesNotExist() {
        Limiter limiter = limiter(Quota.daily(1).in(ZoneId.of("Africa/Cairo")));
        long begins = Instant.parse("2026-04-23T22:00:00Z").toEpochMilli();
        long ends = Instant.parse("2026-04-24T21:00:00Z").toEpochMilli();

        setMs(begins - 1);
        assertThat(limiter.checkSync(KEY).resetAtMs()).isEqualTo(begins);
        assertThat(limiter.checkSync(KEY).retryAfterMs()).isEqualTo(1);
        setMs(begins);
        assertThat(limiter.checkSync(KEY).resetAtMs()).isEqualTo(ends);
        assertThat(limiter.checkSync(KEY).retryAfterMs()).isEqualTo(ends - begins);
        setMs(ends - 1);
        assertThat(limiter.checkSync(KEY).allowed()).isFalse();
        setMs(ends);
        assertThat(limiter.checkSync(KEY).allowed()).isTrue();
    }

    @Test
    void gcraSpacesUnitsEvenly() {
        Limiter limiter = limiter(Gcra.of(2, SECOND));

        assertThat(limiter.checkSync(KEY).allowed()).isTrue();
        assertThat(limiter.checkSync(KEY).allowed()).isTrue();
        assertThat(limiter.checkSync(KEY).allowed()).isFalse();

        setMs(500);
        assertThat(limiter.checkSync(KEY).allowed()).isTrue();
    }
}
