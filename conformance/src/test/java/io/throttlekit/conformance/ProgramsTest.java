package io.throttlekit.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.Dialect;
import io.throttlekit.Program;
import io.throttlekit.Step;
import io.throttlekit.Strategy;
import io.throttlekit.Transform;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.Quota;
import io.throttlekit.strategy.SlidingWindow;
import io.throttlekit.strategy.SlidingWindowLog;
import io.throttlekit.strategy.TokenBucket;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What the strategies send to their scripts, and what they make of the replies. No script runs here: a reply is made
 * of the state after the step, as the script documents it. The tests of the stores run the scripts.
 */
class ProgramsTest {
    private static final long START = 1_759_996_572_738_123L;
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private static <R> Program<R> program(Transform<?, R> transform) {
        return Objects.requireNonNull(transform.program());
    }

    private static void sends(Transform<?, ?> transform, String operation, long... numbers) {
        assertThat(program(transform).operation()).isEqualTo(operation);
        assertThat(program(transform).args(START))
                .containsExactlyElementsOf(LongStream.of(numbers).boxed().toList());
    }

    @Test
    void gcraSendsItsSpansReadyMade() {
        Gcra strategy = Gcra.of(3_000_000, SECOND).withBurst(10);

        sends(strategy.check(1, 1), "check", 3, 3, 1, 1, 1, 0, 1);
        sends(strategy.check(2, 2), "check", 3, 3, 1, 2, 2, 0, 2);
        // 1, 2 and 4 units: what lies between 3 and the burst of 10.
        sends(strategy.check(3, 50), "check", 3, 3, 1, 3, 10, 1, 0, 0, 1, 0, 2, 1, 1);
        sends(strategy.check(2, 4), "check", 3, 3, 1, 2, 4, 0, 2, 0, 1, 0, 2);
        sends(strategy.check(10, 10), "check", 3, 3, 1, 10, 10, 3, 1);
        sends(strategy.check(11, 11), "look", 3);
        sends(strategy.peek(), "look", 3);
        sends(strategy.forecast(1), "look", 3);
        sends(strategy.refund(5, null), "refund", 3, 1, 2);
        sends(Gcra.of(1, Duration.ofDays(365)).refund(1L << 50, null), "refund", 1, (1L << 53) - 1, 0);
    }

    @Test
    void tokenBucketSendsItsRateInGrains() {
        TokenBucket strategy = TokenBucket.of(5, 3, SECOND);

        sends(strategy.check(1, 1), "check", 1_000_000, 3, 5, 1_666_667, 1, 1);
        sends(strategy.check(2, 9), "check", 1_000_000, 3, 5, 1_666_667, 2, 5);
        sends(strategy.check(5, 5), "check", 1_000_000, 3, 5, 1_666_667, 5, 5);
        sends(strategy.check(6, 6), "look", 1_000_000, 3, 5, 1_666_667, 0, 0);
        sends(strategy.peek(), "look", 1_000_000, 3, 5, 1_666_667, 0, 0);
        sends(strategy.forecast(2), "look", 1_000_000, 3, 5, 1_666_667, 0, 0);
        sends(strategy.refund(9, null), "refund", 1_000_000, 3, 5, 1_666_667, 5, 0);
    }

    @Test
    void countersSendTheirPeriods() {
        Decision charged = Decision.allowed(1, 5, 4, 1_759_996_620_000L, START / 1000);
        FixedWindow window = FixedWindow.of(5, MINUTE);
        Quota anchored = Quota.fixed(5, MINUTE).anchoredAt(Instant.ofEpochMilli(123));
        Quota daily = Quota.daily(5).in(ZoneId.of("Africa/Cairo"));
        long[] days = {1759870800000L, 1759957200000L, 1760043600000L, 1760130000000L, 1760216400000L};

        sends(window.check(1, 1), "check", 60_000, 0, 5, 1, 1);
        sends(window.check(2, 9), "check", 60_000, 0, 5, 2, 5);
        sends(window.check(5, 5), "check", 60_000, 0, 5, 5, 5);
        sends(window.check(6, 6), "look", 60_000, 0, 5, 0, 0);
        sends(window.peek(), "look", 60_000, 0, 5, 0, 0);
        sends(window.forecast(2), "look", 60_000, 0, 5, 0, 0);
        sends(window.refund(2, null), "refund", 60_000, 0, 5, 2, 0);
        sends(window.refund(2, charged), "refund_window", 60_000, 0, 5, 2, 1_759_996_620_000L);
        sends(anchored.check(1, 1), "check", 60_000, 123, 5, 1, 1);
        sends(daily.check(1, 1), "check", 5, 1, 1, days[0], days[1], days[2], days[3], days[4]);
    }

    @Test
    void aQuotaAsksAgainWhenNoPeriodHoldsTheServersTime() {
        Program<Decision> program = program(Quota.daily(5).check(1, 1));

        assertThat(program.read(List.of(-1L, START, 0L, 0L))).isNull();
        assertThat(program.read(List.of(0L, START, 1_759_968_000_000L, 5L))).isNotNull();
    }

    @Test
    void aRefundOfAWindowTellsWhetherAnythingWasGivenBack() {
        Decision charged = Decision.allowed(1, 5, 4, 1_759_996_620_000L, START / 1000);
        Program<Boolean> program = program(FixedWindow.of(5, MINUTE).refund(2, charged));

        assertThat(program.read(List.of(2L, START, 1_759_996_560_000L, 0L))).isTrue();
        assertThat(program.read(List.of(0L, START, 1_759_996_560_000L, 0L))).isFalse();
    }

    @Test
    void slidingWindowsSendWhatToLookForInADenial() {
        SlidingWindow strategy = SlidingWindow.of(5, MINUTE, 6);
        SlidingWindowLog log = SlidingWindowLog.of(5, MINUTE);

        sends(strategy.check(1, 1), "check", 60_000, 6, 5, 1, 1, 4);
        sends(strategy.check(2, 9), "check", 60_000, 6, 5, 2, 5, 3);
        sends(strategy.check(5, 5), "check", 60_000, 6, 5, 5, 5, 0);
        sends(strategy.check(6, 6), "look", 60_000, 6, 5, 0, 0, 0);
        sends(strategy.peek(), "look", 60_000, 6, 5, 0, 0, 4);
        sends(strategy.forecast(2), "forecast", 60_000, 6, 5);
        sends(strategy.refund(2, null), "refund", 60_000, 6, 5, 2);
        sends(log.check(1, 1), "check", 60_000, 5, 1, 1);
        sends(log.check(2, 9), "check", 60_000, 5, 2, 5);
        sends(log.check(5, 5), "check", 60_000, 5, 5, 5);
        sends(log.check(6, 6), "look", 60_000, 5, 6, 6);
        sends(log.peek(), "look", 60_000, 5, 1, 1);
        sends(log.forecast(2), "look", 60_000, 5, 1, 1);
        sends(log.refund(9, null), "refund", 60_000, 5, 5, 0);
    }

    static Stream<Strategy<?>> strategies() {
        return Stream.of(
                Gcra.of(27, SECOND),
                Gcra.of(100_000_007, SECOND).withBurst(7),
                TokenBucket.of(7, 999, Duration.ofSeconds(3)),
                TokenBucket.of(3, new BigDecimal("0.3"), SECOND),
                FixedWindow.of(5, SECOND),
                Quota.fixed(5, SECOND).anchoredAt(Instant.ofEpochMilli(77)),
                Quota.daily(5).in(ZoneId.of("Africa/Cairo")),
                SlidingWindow.of(10, SECOND),
                SlidingWindow.of(97, Duration.ofMillis(250), 7),
                SlidingWindowLog.of(5, SECOND));
    }

    @ParameterizedTest
    @MethodSource("strategies")
    void hasATextForEveryDialect(Strategy<?> strategy) {
        for (Dialect dialect : Dialect.values()) {
            assertThat(program(strategy.peek()).text(dialect)).isNotBlank();
        }
    }

    @ParameterizedTest
    @MethodSource("strategies")
    void aReplyReadsAsTheStepThatItTellsOf(Strategy<?> strategy) {
        repliesReadAsSteps(strategy, new Random(11));
    }

    private static <S> void repliesReadAsSteps(Strategy<S> strategy, Random random) {
        S state = null;
        long now = START;
        for (int i = 0; i < 400; i++) {
            // Now and then the clock steps back.
            now += random.nextInt(20) == 0
                    ? -random.nextInt(5_000)
                    : random.nextInt(random.nextInt(5) == 0 ? 3_000_000 : 90_000);
            long cost = 1L + random.nextInt((int) strategy.limit() + 2);
            List<Transform<S, ?>> transforms = List.of(
                    strategy.check(1, 1),
                    strategy.check(cost, cost),
                    strategy.check(cost, cost + random.nextInt(9)),
                    strategy.peek(),
                    strategy.forecast(cost),
                    strategy.refund(cost, null));
            state = readsAsItsStep(transforms.get(random.nextInt(transforms.size())), state, now, strategy.limit());
        }
    }

    private static <S, R> @Nullable S readsAsItsStep(
            Transform<S, R> transform, @Nullable S before, long now, long limit) {
        Step<S> step = transform.step(before, now);
        Program<R> program = program(transform);

        List<Long> reply = reply(program, step.granted(), now, text(transform, step.state()), limit);

        assertThat(program.read(reply)).isEqualTo(transform.read(step, now));
        return step.state();
    }

    private static <S> long[] text(Transform<S, ?> transform, @Nullable S state) {
        return state == null
                ? new long[0]
                : Arrays.stream(new String(transform.codec().encode(state), StandardCharsets.US_ASCII).split(":"))
                        .mapToLong(Long::parseLong)
                        .toArray();
    }

    /** What a script would reply, of the numbers that its state is written with. */
    private static List<Long> reply(Program<?> program, long granted, long now, long[] state, long limit) {
        List<Long> reply = new ArrayList<>(List.of(granted, now));
        List<Long> args = program.args(now);
        switch (program.name()) {
            case "gcra" -> {
                boolean ahead = state.length > 0 && state[0] >= now;
                reply.addAll(ahead ? List.of(state[0], state[1]) : List.of(now, 0L));
            }
            case "token_bucket" -> addBucket(reply, state, now, args.get(0), args.get(1), limit);
            case "fixed_window" ->
                addWindow(
                        reply, state, args.get(1) + Math.floorDiv(now / 1000 - args.get(1), args.get(0)) * args.get(0));
            case "quota" ->
                addWindow(
                        reply,
                        state,
                        args.subList(3, 7).stream()
                                .filter(start -> start <= now / 1000)
                                .max(Long::compare)
                                .orElseThrow());
            case "sliding_window" -> addBuckets(reply, state, now, program, limit);
            case "sliding_window_log" -> addStamps(reply, state, now, args, limit);
            default -> throw new IllegalArgumentException(program.name());
        }
        return reply;
    }

    private static void addBucket(List<Long> reply, long[] state, long now, long perToken, long perMicro, long limit) {
        long at = state.length == 0 ? now : Math.max(now, state[2]);
        long full = limit * perToken;
        long grains = state.length == 0 ? full : Math.min(full, state[0] + (at - state[2]) * perMicro);
        reply.addAll(List.of(at, grains / perToken, grains % perToken));
    }

    private static void addWindow(List<Long> reply, long[] state, long start) {
        boolean kept = state.length > 0 && state[0] >= start;
        reply.addAll(kept ? List.of(state[0], state[2]) : List.of(start, 0L));
    }

    private static void addBuckets(List<Long> reply, long[] state, long now, Program<?> program, long limit) {
        long window = program.args(now).get(0);
        long buckets = program.args(now).get(1);
        long ms = now / 1000;
        long tick = Math.max(ms * buckets / window, state.length == 0 ? 0 : state[1]);
        long full = sum(state, tick - buckets + 1, tick);
        long old = sum(state, tick - buckets, tick - buckets);
        reply.addAll(List.of(tick, full, old));
        List<Long> sought = new ArrayList<>();
        if (program.operation().equals("forecast")) {
            long over = Math.max(0, ms * buckets - tick * window);
            long available = Math.max(0, limit - full - -Math.floorDiv(-old * (window - over), window));
            sought.addAll(List.of(Math.max(0, limit - available - 1), 0L));
        } else if (reply.get(0) == 0 && !program.operation().equals("refund")) {
            sought.add(program.args(now).get(5));
        } else {
            sought.add(full);
        }
        for (long x : sought) {
            long t = tick;
            while (sum(state, t - buckets + 1, t) > x) {
                t++;
            }
            reply.addAll(List.of(t, sum(state, t - buckets + 1, t), sum(state, t - buckets, t - buckets)));
        }
    }

    /** The counts of a sliding window's buckets from one to another. */
    private static long sum(long[] state, long from, long to) {
        long sum = 0;
        for (int i = 2; i < state.length; i++) {
            long tick = state[1] - (i - 2);
            sum += tick >= from && tick <= to ? state[i] : 0;
        }
        return sum;
    }

    private static void addStamps(List<Long> reply, long[] state, long now, List<Long> args, long limit) {
        List<Long> stamps = new ArrayList<>();
        for (int i = 0; i < state.length; i += 2) {
            for (long unit = 0; unit < state[i + 1]; unit++) {
                stamps.add(state[i]);
            }
        }
        long at = stamps.isEmpty() ? now / 1000 : Math.max(now / 1000, stamps.get(stamps.size() - 1));
        stamps.removeIf(stamp -> stamp <= at - args.get(0));
        int n = stamps.size();
        long min = args.get(2);
        int k = (int) Math.max(1, Math.min(n, n + min - limit));
        reply.addAll(
                n == 0
                        ? List.of(at, 0L, at, at, at)
                        : List.of(at, (long) n, stamps.get(0), stamps.get(n - 1), stamps.get(k - 1)));
    }
}
