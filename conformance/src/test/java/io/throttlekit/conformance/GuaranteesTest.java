package io.throttlekit.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.Forecast;
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
import java.math.BigInteger;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What users are promised, of every strategy over MemoryStore, at random times with fixed seeds. */
class GuaranteesTest {
    private static final int ROUNDS = 400;
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final ManualClock clock = ManualClock.at(1_759_996_572_738_000L);

    private Limiter limiter(Strategy<?> strategy) {
        return Limiter.builder(strategy)
                .store(MemoryStore.builder()
                        .clock(clock)
                        .sweepInterval(Duration.ZERO)
                        .build())
                .build();
    }

    static Stream<Strategy<?>> strategies() {
        return Stream.of(
                Gcra.of(27, SECOND),
                Gcra.of(100_000_007, SECOND).withBurst(97),
                Gcra.of(333, Duration.ofHours(1)),
                Gcra.perSecond(1.67).withBurst(3),
                TokenBucket.of(7, 999, Duration.ofSeconds(3)),
                TokenBucket.of(100, 3, Duration.ofMinutes(1)),
                FixedWindow.of(5, Duration.ofSeconds(7)),
                SlidingWindow.of(10, SECOND),
                SlidingWindow.of(97, Duration.ofMillis(250), 7),
                SlidingWindow.of(1, Duration.ofSeconds(7), 3),
                SlidingWindowLog.of(5, Duration.ofSeconds(60)),
                SlidingWindowLog.of(40, Duration.ofMillis(40)),
                Quota.daily(10).in(ZoneId.of("Africa/Cairo")),
                Quota.monthly(3).in(ZoneId.of("America/Havana")),
                Quota.fixed(10, Duration.ofSeconds(5)),
                Quota.rolling(3, Duration.ofDays(1)));
    }

    private static long windowMicros(Strategy<?> strategy) {
        Duration window = strategy.window();
        return window == null ? 86_400_000_000L : window.toNanos() / 1000;
    }

    /** Moves on by anything from nothing to a bit more than a window. */
    private void moveOn(Strategy<?> strategy, Random random) {
        long by = switch (random.nextInt(6)) {
            case 0, 1 -> 0;
            case 2 -> random.nextLong(2_000);
            case 3, 4 -> random.nextLong(2 + 2 * windowMicros(strategy) / strategy.limit());
            default -> random.nextLong(1 + windowMicros(strategy) * 5 / 4);
        };
        clock.set(clock.epochMicros() + by);
    }

    private static long cost(Strategy<?> strategy, Random random) {
        return random.nextBoolean() ? 1 : 1 + random.nextLong(strategy.limit());
    }

    @ParameterizedTest
    @MethodSource("strategies")
    void coldKeyAdmitsExactlyItsLimitAtAnyEpoch(Strategy<?> strategy) {
        Random random = new Random(1);
        Limiter limiter = limiter(strategy);
        for (int round = 0; round < ROUNDS; round++) {
            clock.set(random.nextLong(-4_000_000_000_000_000L, 9_000_000_000_000_000L));
            String key = "key " + round;

            for (long i = 0; i < strategy.limit(); i++) {
                assertThat(limiter.checkSync(key).allowed())
                        .as("unit %d at %d us", i, clock.epochMicros())
                        .isTrue();
            }

            assertThat(limiter.checkSync(key).allowed())
                    .as("one more at %d us", clock.epochMicros())
                    .isFalse();
        }
    }

    /** Units taken at an instant. */
    private record Taken(long micros, long units) {}

    private static void neverMoreThan(List<Taken> taken, long burst, long units, long perMicros) {
        for (int first = 0; first < taken.size(); first++) {
            long sum = 0;
            for (int last = first; last < taken.size(); last++) {
                sum += taken.get(last).units;
                long elapsed = taken.get(last).micros - taken.get(first).micros;
                // sum <= burst + elapsed * units / perMicros, without rounding
                BigInteger over = BigInteger.valueOf(sum - burst).multiply(BigInteger.valueOf(perMicros));
                assertThat(over)
                        .as("%d units in %d us", sum, elapsed)
                        .isLessThanOrEqualTo(BigInteger.valueOf(elapsed).multiply(BigInteger.valueOf(units)));
            }
        }
    }

    private List<Taken> takeAll(Strategy<?> strategy, Random random) {
        Limiter limiter = limiter(strategy);
        List<Taken> taken = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            moveOn(strategy, random);
            long granted =
                    limiter.checkUpToSync("key", 1, cost(strategy, random)).granted();
            if (granted > 0) {
                taken.add(new Taken(clock.epochMicros(), granted));
            }
        }
        return taken;
    }

    @Test
    void gcraAdmitsNoMoreThanBurstAndRateInAnyInterval() {
        long[][] configurations = {
            {27, 1_000_000, 27}, {999_983, 1_000_000, 7}, {7, 250_000, 2}, {3, 86_400_000_000L, 3}
        };
        for (long[] c : configurations) {
            Gcra gcra = Gcra.of(c[0], Duration.ofNanos(c[1] * 1000)).withBurst(c[2]);

            neverMoreThan(takeAll(gcra, new Random(c[0])), c[2], c[0], c[1]);
        }
    }

    @Test
    void tokenBucketAdmitsNoMoreThanCapacityAndRateInAnyInterval() {
        long[][] configurations = {{999, 3_000_000, 7}, {3, 60_000_000, 100}, {5, 1_000_000, 5}};
        for (long[] c : configurations) {
            TokenBucket bucket = TokenBucket.of(c[2], c[0], Duration.ofNanos(c[1] * 1000));

            neverMoreThan(takeAll(bucket, new Random(c[0])), c[2], c[0], c[1]);
        }
    }

    @Test
    void logAdmitsNoMoreThanItsLimitInAnyWindow() {
        SlidingWindowLog log = SlidingWindowLog.of(5, Duration.ofMillis(700));
        List<Taken> taken = takeAll(log, new Random(5));

        for (Taken first : taken) {
            long from = Math.floorDiv(first.micros, 1000L);
            long inWindow = taken.stream()
                    .filter(t -> t.micros >= first.micros && Math.floorDiv(t.micros, 1000L) < from + 700)
                    .mapToLong(Taken::units)
                    .sum();
            assertThat(inWindow).isLessThanOrEqualTo(5);
        }
    }

    @ParameterizedTest
    @MethodSource("strategies")
    void denialChangesNothing(Strategy<?> strategy) {
        Random random = new Random(2);
        Limiter limiter = limiter(strategy);
        int denials = 0;
        for (int round = 0; round < ROUNDS; round++) {
            moveOn(strategy, random);
            Decision before = limiter.peekSync("key");
            Forecast ahead = limiter.forecastSync("key", 1);

            boolean denied = !limiter.checkSync("key", cost(strategy, random)).allowed();

            if (denied) {
                denials++;
                assertThat(limiter.peekSync("key")).isEqualTo(before);
                assertThat(limiter.forecastSync("key", 1)).isEqualTo(ahead);
            }
        }
        assertThat(denials).isPositive();
    }

    @ParameterizedTest
    @MethodSource("strategies")
    void clockThatStepsBackAddsNoCapacity(Strategy<?> strategy) {
        Random random = new Random(3);
        Limiter limiter = limiter(strategy);
        for (int round = 0; round < ROUNDS; round++) {
            moveOn(strategy, random);
            limiter.checkSync("key", cost(strategy, random));
            long now = clock.epochMicros();
            long remaining = limiter.peekSync("key").remaining();

            clock.set(now - random.nextLong(1 + 2 * windowMicros(strategy)));
            assertThat(limiter.peekSync("key").remaining())
                    .as("remaining when the clock stepped from %d to %d us", now, clock.epochMicros())
                    .isLessThanOrEqualTo(remaining);
            long taken = limiter.checkUpToSync("key", 1, strategy.limit()).granted();
            clock.set(now);
            assertThat(limiter.peekSync("key").remaining())
                    .as("remaining when the clock is back at %d us", now)
                    .isLessThanOrEqualTo(remaining - taken);
        }
    }

    @ParameterizedTest
    @MethodSource("strategies")
    void obeyingTheWaitSucceedsAndOneMillisecondLessDoesNot(Strategy<?> strategy) {
        Random random = new Random(4);
        Limiter limiter = limiter(strategy);
        int denials = 0;
        for (int round = 0; round < ROUNDS; round++) {
            moveOn(strategy, random);
            long cost = cost(strategy, random);
            Decision decision = limiter.checkSync("key", cost);
            if (decision.allowed()) {
                continue;
            }
            denials++;
            clock.set(clock.epochMicros() + (decision.retryAfterMs() - 1) * 1000);
            assertThat(limiter.checkSync("key", cost).allowed())
                    .as("cost %d a millisecond sooner than its wait of %d ms", cost, decision.retryAfterMs())
                    .isFalse();
            clock.set(clock.epochMicros() + 1_000);
            assertThat(limiter.checkSync("key", cost).allowed())
                    .as("cost %d after its wait of %d ms", cost, decision.retryAfterMs())
                    .isTrue();
        }
        assertThat(denials).isPositive();
    }

    @ParameterizedTest
    @MethodSource("strategies")
    void refundRightAfterACheckRestoresWhatItTook(Strategy<?> strategy) {
        Random random = new Random(5);
        Limiter limiter = limiter(strategy);
        for (int round = 0; round < ROUNDS; round++) {
            moveOn(strategy, random);
            limiter.checkSync("key");
            Decision before = limiter.peekSync("key");
            Forecast ahead = limiter.forecastSync("key", 1);

            Decision taken = limiter.checkUpToSync("key", 1, cost(strategy, random));

            if (taken.allowed()) {
                assertThat(limiter.refundSync("key", taken.granted(), taken)).isTrue();
                assertThat(limiter.peekSync("key").remaining()).isEqualTo(before.remaining());
                assertThat(limiter.forecastSync("key", 1)).isEqualTo(ahead);
            }
        }
    }
}
