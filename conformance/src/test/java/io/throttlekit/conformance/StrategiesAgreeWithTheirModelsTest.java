package io.throttlekit.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.ManualClock;
import io.throttlekit.StateCodec;
import io.throttlekit.Step;
import io.throttlekit.Strategy;
import io.throttlekit.Transform;
import io.throttlekit.conformance.model.CounterModel;
import io.throttlekit.conformance.model.GcraModel;
import io.throttlekit.conformance.model.LogModel;
import io.throttlekit.conformance.model.Model;
import io.throttlekit.conformance.model.SlidingWindowModel;
import io.throttlekit.conformance.model.TokenBucketModel;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.Quota;
import io.throttlekit.strategy.SlidingWindow;
import io.throttlekit.strategy.SlidingWindowLog;
import io.throttlekit.strategy.TokenBucket;
import java.math.BigDecimal;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.Random;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Random configurations, extreme ones among them, and random operations: MemoryStore's compact form, its general
 * form and the model give the same answers to the last digit.
 */
class StrategiesAgreeWithTheirModelsTest {
    private static final int CONFIGURATIONS = 60;
    private static final int OPERATIONS = 80;
    private static final long CENTURY_MICROS = 3_155_760_000_000_000L;
    private static final long[] EPOCHS = {
        0,
        1_759_996_572_738_123L,
        -5 * CENTURY_MICROS,
        (1L << 53) - 5_000_000,
        1_000_000_000_000_000_000L,
        // Milliseconds saturate from 2^53 on, and a long of microseconds ends not far behind.
        9_007_199_254_000_000_000L,
        Long.MAX_VALUE - 1_000_000,
        Long.MIN_VALUE + 1_000_000
    };
    /** Up to here nothing may be refused. Beyond, an error is an answer, and a wrong answer is not. */
    private static final long ORDINARY_MICROS = 1L << 60;

    private static final long[] LIMITS = {
        1, 2, 3, 5, 7, 10, 27, 100, 997, 2_000, 50_000, 999_983, 1_000_000, 20_000_000, 100_000_007
    };
    private static final long[] PERIODS_MS = {
        1,
        7,
        250,
        1_000,
        1_500,
        7_000,
        60_000,
        3_600_000,
        86_400_000,
        2_592_000_000L,
        31_557_600_000L,
        3_155_760_000_000L
    };
    private static final ZoneId[] ZONES = {
        ZoneId.of("UTC"),
        ZoneId.of("Africa/Cairo"),
        ZoneId.of("Asia/Beirut"),
        ZoneId.of("America/Havana"),
        ZoneId.of("Australia/Lord_Howe"),
        ZoneId.of("Pacific/Apia"),
        ZoneId.of("America/Scoresbysund")
    };

    /** A strategy and what models it. */
    private record Subject(String text, Strategy<?> strategy, Model model) {}

    /** The general form of a transform, without its compact one. */
    private record Plain<S, R>(Transform<S, R> transform) implements Transform<S, R> {
        @Override
        public StateCodec<S> codec() {
            return transform.codec();
        }

        @Override
        public Step<S> step(@Nullable S before, long nowMicros) {
            return transform.step(before, nowMicros);
        }

        @Override
        public R read(Step<S> step, long nowMicros) {
            return transform.read(step, nowMicros);
        }
    }

    private static long one(long[] values, Random random) {
        return values[random.nextInt(values.length)];
    }

    private static BigDecimal rate(Random random) {
        return random.nextInt(4) == 0
                ? BigDecimal.valueOf(1 + random.nextInt(100_000), 1 + random.nextInt(3))
                : BigDecimal.valueOf(one(LIMITS, random));
    }

    @Test
    void gcra() {
        agree(random -> {
            BigDecimal limit = rate(random);
            long periodMicros = random.nextInt(5) == 0 ? 1 + random.nextInt(1_000_000) : one(PERIODS_MS, random) * 1000;
            Duration period = Duration.of(periodMicros, ChronoUnit.MICROS);
            long burst = Math.max(1, limit.longValue());
            Gcra gcra = Gcra.of(limit, period);
            if (random.nextBoolean()) {
                burst = random.nextBoolean() ? 1 : one(LIMITS, random);
                gcra = gcra.withBurst(burst);
            }
            return new Subject(
                    limit + " per " + period + " burst " + burst, gcra, new GcraModel(limit, periodMicros, burst));
        });
    }

    @Test
    void tokenBucket() {
        agree(random -> {
            long capacity = one(LIMITS, random);
            BigDecimal tokens = rate(random);
            long periodMs = one(PERIODS_MS, random);
            return new Subject(
                    capacity + ", " + tokens + " per " + periodMs + " ms",
                    TokenBucket.of(capacity, tokens, Duration.ofMillis(periodMs)),
                    new TokenBucketModel(capacity, tokens, periodMs * 1000));
        });
    }

    @Test
    void fixedWindow() {
        agree(random -> {
            long limit = random.nextInt(8) == 0 ? Strategy.MAX_COST : one(LIMITS, random);
            long windowMs = one(PERIODS_MS, random);
            return new Subject(
                    limit + " per " + windowMs + " ms",
                    FixedWindow.of(limit, Duration.ofMillis(windowMs)),
                    new CounterModel(limit, CounterModel.fixed(windowMs, 0)));
        });
    }

    @Test
    void quota() {
        agree(random -> {
            long limit = one(LIMITS, random);
            ZoneId zone = ZONES[random.nextInt(ZONES.length)];
            DayOfWeek first = DayOfWeek.of(1 + random.nextInt(7));
            long periodMs = one(PERIODS_MS, random);
            long anchorMs = random.nextLong(-4_000_000_000_000L, 4_000_000_000_000L);
            int buckets = 1 + random.nextInt(12);
            return switch (random.nextInt(5)) {
                case 0 ->
                    new Subject(
                            limit + " a month in " + zone,
                            Quota.monthly(limit).in(zone),
                            new CounterModel(limit, CounterModel.months(zone)));
                case 1 ->
                    new Subject(
                            limit + " a week from " + first + " in " + zone,
                            Quota.weekly(limit).startingOn(first).in(zone),
                            new CounterModel(limit, CounterModel.weeks(zone, first)));
                case 2 ->
                    new Subject(
                            limit + " a day in " + zone,
                            Quota.daily(limit).in(zone),
                            new CounterModel(limit, CounterModel.days(zone)));
                case 3 ->
                    new Subject(
                            limit + " per " + periodMs + " ms from " + anchorMs,
                            Quota.fixed(limit, Duration.ofMillis(periodMs)).anchoredAt(Instant.ofEpochMilli(anchorMs)),
                            new CounterModel(limit, CounterModel.fixed(periodMs, anchorMs)));
                default ->
                    new Subject(
                            limit + " in any " + periodMs + " ms, " + buckets + " buckets",
                            Quota.rolling(limit, Duration.ofMillis(periodMs), buckets),
                            new SlidingWindowModel(limit, periodMs, buckets));
            };
        });
    }

    @Test
    void slidingWindow() {
        agree(random -> {
            long limit = one(LIMITS, random);
            long windowMs = one(PERIODS_MS, random);
            int buckets = random.nextInt(8) == 0 ? 1_000 : 1 + random.nextInt(12);
            return new Subject(
                    limit + " per " + windowMs + " ms, " + buckets + " buckets",
                    SlidingWindow.of(limit, Duration.ofMillis(windowMs), buckets),
                    new SlidingWindowModel(limit, windowMs, buckets));
        });
    }

    @Test
    void slidingWindowLog() {
        agree(random -> {
            long limit = one(LIMITS, random);
            long windowMs = one(PERIODS_MS, random);
            return new Subject(
                    limit + " per " + windowMs + " ms",
                    SlidingWindowLog.of(limit, Duration.ofMillis(windowMs)),
                    new LogModel(limit, windowMs));
        });
    }

    private static void agree(Function<Random, Subject> make) {
        int built = 0;
        int answered = 0;
        for (int seed = 0; built < CONFIGURATIONS; seed++) {
            assertThat(seed).as("configurations that were drawn").isLessThan(10 * CONFIGURATIONS);
            Random random = new Random(seed);
            Subject subject;
            try {
                subject = make.apply(random);
            } catch (IllegalArgumentException e) {
                assertThat(e)
                        .as("what cannot be kept exact is refused in words")
                        .hasMessageMatching(".*(must be|cannot be kept exact|more than).*");
                continue;
            }
            built++;
            answered += new Duel<>(subject.strategy, subject.model, subject.text, random, EPOCHS[seed % EPOCHS.length])
                    .run();
        }
        assertThat(answered).isGreaterThan(CONFIGURATIONS * OPERATIONS * 3 / 4);
    }

    /** One configuration, played on both forms and on the model. */
    private static final class Duel<S> {
        private final Strategy<S> strategy;
        private final Model model;
        private final String text;
        private final Random random;
        private final MemoryStore compact;
        private final MemoryStore general;
        private final long windowMicros;
        private long now;
        private long waitMicros;
        private boolean over;
        private @Nullable Decision charged;

        Duel(Strategy<S> strategy, Model model, String text, Random random, long epoch) {
            this.strategy = strategy;
            this.model = model;
            this.text = text;
            this.random = random;
            this.now = epoch;
            ManualClock clock = ManualClock.at(epoch);
            this.compact = store(clock);
            this.general = store(clock);
            Duration window = strategy.window();
            this.windowMicros = window == null ? 86_400_000_000L : Math.max(1, window.toNanos() / 1000);
        }

        private static MemoryStore store(ManualClock clock) {
            return MemoryStore.builder()
                    .clock(clock)
                    .sweepInterval(Duration.ZERO)
                    .build();
        }

        /** Plays all operations and returns how many were answered. */
        int run() {
            int answered = 0;
            for (int i = 0; i < OPERATIONS && !over; i++) {
                move();
                answered += play(i);
            }
            return answered;
        }

        private void move() {
            long by = switch (random.nextInt(13)) {
                case 0, 1, 2 -> 0;
                case 3 -> random.nextLong(2_000);
                case 4, 5 -> random.nextLong(2 + 2 * windowMicros / strategy.limit());
                case 6 -> random.nextLong(1 + windowMicros);
                case 7 -> random.nextLong(1 + 3 * windowMicros);
                case 8 -> -random.nextLong(2_000_000);
                case 9 -> -random.nextLong(1 + windowMicros);
                case 10 -> waitMicros;
                case 11 -> Math.max(0, waitMicros - 1_000);
                default -> random.nextInt(10) == 0 ? 3 * CENTURY_MICROS : 1;
            };
            long moved = now + by;
            boolean wrapped = ((now ^ moved) & (by ^ moved)) < 0;
            if (!wrapped) {
                now = moved;
            }
        }

        private long cost() {
            long limit = strategy.limit();
            return switch (random.nextInt(12)) {
                case 0 -> limit;
                case 1 -> Math.min(Strategy.MAX_COST, limit + 1 + random.nextInt(5));
                case 2 -> random.nextBoolean() ? Strategy.MAX_COST : random.nextLong(1, Strategy.MAX_COST);
                case 3, 4 -> 1;
                case 5, 6 -> 1 + random.nextLong(limit);
                default -> 1 + random.nextLong(Math.max(1, limit / 4));
            };
        }

        private int play(int index) {
            long a = cost();
            long b = cost();
            long min = Math.min(a, b);
            long max = Math.max(a, b);
            long at = now;
            int kind = random.nextInt(20);
            if (kind < 9) {
                return decide(index, "check " + a, () -> strategy.check(a, a), () -> model.check(at, a, a));
            }
            if (kind < 13) {
                return decide(
                        index,
                        "check from " + min + " to " + max,
                        () -> strategy.check(min, max),
                        () -> model.check(at, min, max));
            }
            if (kind < 15) {
                return decide(index, "peek", strategy::peek, () -> model.peek(at));
            }
            if (kind < 17) {
                return same(
                        index, "forecast " + a, () -> strategy.forecast(a), look -> look, () -> model.forecast(at, a));
            }
            Decision decision = random.nextBoolean() ? charged : null;
            return same(
                    index,
                    "refund " + a + " of " + decision,
                    () -> strategy.refund(a, decision),
                    given -> "done",
                    () -> {
                        model.refund(at, a, decision == null ? null : decision.resetAtMs());
                        return "done";
                    });
        }

        private int decide(
                int index, String operation, Supplier<Transform<S, Decision>> transform, Supplier<Decision> expected) {
            return same(index, operation, transform, decision -> decision, () -> {
                Decision decision = expected.get();
                waitMicros = Math.min(decision.retryAfterMs(), windowMicros) * 1000;
                charged = decision.granted() > 0 ? decision : charged;
                return decision;
            });
        }

        private <R, A> int same(
                int index,
                String operation,
                Supplier<Transform<S, R>> transform,
                Function<R, A> answer,
                Supplier<A> expected) {
            R inGeneral = answer(general, new Plain<>(transform.get()));
            R inCompact = answer(compact, transform.get());
            if (inGeneral == null || inCompact == null) {
                assertThat(Math.abs((double) now))
                        .as("%s: operation %d (%s) was refused at %d us", text, index, operation, now)
                        .isGreaterThan(ORDINARY_MICROS);
            }
            // Refused by one form and not by the other, their states differ from here on.
            over = inGeneral == null ^ inCompact == null;
            if (inGeneral == null && inCompact == null) {
                return 0;
            }
            A right = expected.get();
            agrees(right, inGeneral == null ? right : answer.apply(inGeneral), index, operation, "general");
            agrees(right, inCompact == null ? right : answer.apply(inCompact), index, operation, "compact");
            return 1;
        }

        private <A> void agrees(A right, A got, int index, String operation, String form) {
            assertThat(got)
                    .as("%s: operation %d (%s) at %d us in the %s form", text, index, operation, now, form)
                    .isEqualTo(right);
        }

        private <R> @Nullable R answer(MemoryStore store, Transform<S, R> transform) {
            try {
                return store.applySync("key", transform, now);
            } catch (ArithmeticException e) {
                return null;
            }
        }
    }
}
