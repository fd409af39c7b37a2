package io.throttlekit.strategy;

import io.throttlekit.Decision;
import io.throttlekit.Forecast;
import io.throttlekit.Program;
import io.throttlekit.StateCodec;
import io.throttlekit.Step;
import io.throttlekit.Transform;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Counts units per period: what a fixed window and a calendar quota have in common.
 *
 * <p>A stored period that starts after the one that holds now is kept, so a clock that steps back re-opens
 * no old period.
 */
final class Counter {
    private final long limit;
    private final Periods periods;
    private final Codec codec;
    private final Check one = new Check(1, 1, false);

    Counter(String kind, long limit, Periods periods) {
        this.limit = Exact.atLeastOne("limit", limit);
        this.periods = periods;
        this.codec = new Codec(kind);
        Script.load(periods instanceof Periods.Fixed ? "fixed_window" : "quota");
    }

    long limit() {
        return limit;
    }

    Transform<WindowState, Decision> check(long min, long max) {
        if (min == 1 && max == 1) {
            return one;
        }
        Exact.range(min, max);
        return new Check(min, max, false);
    }

    Transform<WindowState, Decision> peek() {
        return new Check(1, 1, true);
    }

    Transform<WindowState, Forecast> forecast(long cost) {
        Exact.cost(cost);
        return new Look(cost);
    }

    Transform<WindowState, Boolean> refund(long cost, @Nullable Decision charged) {
        Exact.cost(cost);
        return new Refund(cost, charged == null ? null : charged.resetAtMs());
    }

    private WindowState current(@Nullable WindowState state, long nowMicros) {
        long start = periods.startAt(Math.floorDiv(nowMicros, 1000L));
        if (state == null || state.startMs() < start) {
            return new WindowState(start, periods.endOf(start), 0);
        }
        long reset = periods.endOf(state.startMs());
        return reset == state.resetMs() ? state : new WindowState(state.startMs(), reset, state.count());
    }

    private Decision decide(long granted, boolean peek, long min, long nowMicros, long resetMs, long count) {
        long remaining = Math.max(0, limit - count);
        long resetAtMs = Math.min(Exact.MAX_MS, resetMs);
        long nowMs = Exact.up(nowMicros);
        if (granted > 0 || (peek && remaining >= min)) {
            return Decision.allowed(granted, limit, remaining, resetAtMs, nowMs);
        }
        return Decision.denied(min, limit, remaining, resetAtMs, waitMs(resetMs, nowMicros), nowMs);
    }

    /** {@code up(reset·1000 − now)}, which is reset less now's whole milliseconds. */
    private static long waitMs(long resetMs, long nowMicros) {
        return Math.min(Exact.MAX_MS, resetMs - Math.floorDiv(nowMicros, 1000L));
    }

    private Forecast forecast(long cost, long nowMicros, long resetMs, long count) {
        long nowMs = Exact.up(nowMicros);
        long at = count == 0 ? nowMs : Math.min(Exact.MAX_MS, resetMs);
        return new Forecast(Math.max(0, limit - count) / cost, at, at, nowMs);
    }

    /*
     * fixed_window: period, anchor, limit, then a and b. quota: limit, a, b, then the starts of the previous,
     * the current and the next two periods and the end of the last. a and b are min and max of a check, or
     * the cost of a refund and the reset it is for (0 for any). Replies granted, now, start and count of the
     * window after the step; granted is -1 when no period that was sent holds now.
     */
    private <R> Program<R> script(String operation, long a, long b, Function<List<Long>, R> reader) {
        if (periods instanceof Periods.Fixed fixed) {
            return Script.of(
                    "fixed_window", operation, List.of(fixed.periodMs(), fixed.anchorMs(), limit, a, b), reader);
        }
        return new Script<>(
                "quota",
                operation,
                clientMicros -> {
                    List<Long> args = new ArrayList<>(List.of(limit, a, b));
                    long start = periods.startAt(Math.floorDiv(clientMicros, 1000L));
                    long boundary = periods.startAt(start - 1);
                    for (int i = 0; i < 5; i++) {
                        args.add(boundary);
                        boundary = periods.endOf(boundary);
                    }
                    return args;
                },
                List.of(),
                reply -> reply.get(0) < 0 ? null : reader.apply(reply));
    }

    private abstract class Base<R> implements Transform<WindowState, R> {
        @Override
        public StateCodec<WindowState> codec() {
            return codec;
        }
    }

    private final class Check extends Base<Decision> {
        private final long min;
        private final long max;
        private final boolean peek;

        Check(long min, long max, boolean peek) {
            this.min = min;
            this.max = max;
            this.peek = peek;
        }

        @Override
        public Step<WindowState> step(@Nullable WindowState before, long nowMicros) {
            if (peek || min > limit) {
                return new Step<>(before, 0);
            }
            WindowState window = current(before, nowMicros);
            long units = Math.min(max, limit - window.count());
            if (units < min) {
                return new Step<>(before, 0);
            }
            return new Step<>(new WindowState(window.startMs(), window.resetMs(), window.count() + units), units);
        }

        @Override
        public Decision read(Step<WindowState> step, long nowMicros) {
            WindowState window = current(step.state(), nowMicros);
            return decide(step.granted(), peek, min, nowMicros, window.resetMs(), window.count());
        }

        @Override
        public Program<Decision> program() {
            boolean look = peek || min > limit;
            return script(look ? "look" : "check", look ? 0 : min, look ? 0 : Math.min(max, limit), reply -> {
                long resetMs = periods.endOf(reply.get(2));
                return decide(reply.get(0), peek, min, reply.get(1), resetMs, reply.get(3));
            });
        }
    }

    private final class Look extends Base<Forecast> {
        private final long cost;

        Look(long cost) {
            this.cost = cost;
        }

        @Override
        public Step<WindowState> step(@Nullable WindowState before, long nowMicros) {
            return new Step<>(before, 0);
        }

        @Override
        public Forecast read(Step<WindowState> step, long nowMicros) {
            WindowState window = current(step.state(), nowMicros);
            return forecast(cost, nowMicros, window.resetMs(), window.count());
        }

        @Override
        public Program<Forecast> program() {
            return script(
                    "look", 0, 0, reply -> forecast(cost, reply.get(1), periods.endOf(reply.get(2)), reply.get(3)));
        }
    }

    private final class Refund extends Base<Boolean> {
        private final long cost;
        private final @Nullable Long resetAtMs;

        Refund(long cost, @Nullable Long resetAtMs) {
            this.cost = cost;
            this.resetAtMs = resetAtMs;
        }

        @Override
        public Step<WindowState> step(@Nullable WindowState before, long nowMicros) {
            WindowState window = current(before, nowMicros);
            boolean otherWindow = resetAtMs != null && resetAtMs != window.resetMs();
            if (window.count() == 0 || otherWindow) {
                return new Step<>(before, 0);
            }
            long count = Math.max(0, window.count() - cost);
            return new Step<>(new WindowState(window.startMs(), window.resetMs(), count), window.count() - count);
        }

        @Override
        public Boolean read(Step<WindowState> step, long nowMicros) {
            return step.granted() > 0;
        }

        @Override
        public Program<Boolean> program() {
            return resetAtMs == null
                    ? script("refund", cost, 0, reply -> reply.get(0) > 0)
                    : script("refund_window", cost, resetAtMs, reply -> reply.get(0) > 0);
        }
    }

    private final class Codec implements StateCodec<WindowState> {
        private final String kind;

        Codec(String kind) {
            this.kind = kind;
        }

        @Override
        public String kind() {
            return kind;
        }

        @Override
        public byte[] encode(WindowState state) {
            return Text.of(state.startMs(), state.resetMs(), state.count());
        }

        @Override
        public WindowState decode(byte[] bytes) {
            long[] numbers = Text.numbers(bytes, 3);
            return new WindowState(numbers[0], numbers[1], numbers[2]);
        }

        @Override
        public long expiresAt(WindowState state) {
            return Math.multiplyExact(state.resetMs(), 1000L);
        }

        @Override
        public long remaining(WindowState state, long nowMicros) {
            return Math.max(0, limit - current(state, nowMicros).count());
        }
    }
}
