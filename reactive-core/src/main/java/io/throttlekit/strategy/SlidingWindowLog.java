package io.throttlekit.strategy;

import io.throttlekit.Decision;
import io.throttlekit.Forecast;
import io.throttlekit.Program;
import io.throttlekit.StateCodec;
import io.throttlekit.Step;
import io.throttlekit.Strategy;
import io.throttlekit.Transform;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * At most {@code limit} units in any {@code window}, exact to the millisecond: every unit leaves a stamp
 * that lives for one window.
 *
 * <p>State grows with the limit (about 16 bytes per request in memory, one member per unit in Redis); take
 * {@link SlidingWindow} for limits of many thousands.
 */
public final class SlidingWindowLog implements Strategy<SlidingWindowLog.State> {
    private final long limit;
    private final Duration window;
    private final long windowMs;
    private final Codec codec = new Codec();
    private final Check one = new Check(1, 1, false);

    /**
     * The stamps of one key: runs of equal stamps, oldest first.
     *
     * <p>States are immutable values that share their arrays: a state is a range of runs, and the state
     * that follows an allow writes its run behind the range. The first to claim that place has it; any other
     * successor of the same state copies. So an allow costs the same whatever the limit is.
     */
    public static final class State {
        private static final class Runs {
            final long[] stamps;
            /** Units up to and with a run, counted from the first run of the array. */
            final long[] totals;

            final AtomicInteger used = new AtomicInteger();

            Runs(int capacity) {
                stamps = new long[capacity];
                totals = new long[capacity];
            }
        }

        private final Runs runs;
        private final int from;
        private final int to;

        private State(Runs runs, int from, int to) {
            this.runs = runs;
            this.from = from;
            this.to = to;
        }

        private long before() {
            return from == 0 ? 0 : runs.totals[from - 1];
        }

        long units() {
            return runs.totals[to - 1] - before();
        }

        long oldest() {
            return runs.stamps[from];
        }

        long newest() {
            return runs.stamps[to - 1];
        }

        /** The k-th stamp, counted from 1. */
        long stamp(long k) {
            long total = before() + k;
            int low = from;
            int high = to - 1;
            while (low < high) {
                int middle = (low + high) >>> 1;
                if (runs.totals[middle] < total) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            return runs.stamps[low];
        }

        /** The state without stamps up to {@code deadline}, null when none is left. */
        @Nullable
        State after(long deadline) {
            int first = from;
            while (first < to && runs.stamps[first] <= deadline) {
                first++;
            }
            return first == from ? this : first == to ? null : new State(runs, first, to);
        }

        /** A state of one run. */
        static State of(long stamp, long units) {
            return new State(new Runs(2), 0, 0).plus(stamp, units);
        }

        State plus(long stamp, long units) {
            Runs target = runs;
            int first = from;
            int end = to;
            if (end == target.stamps.length || !target.used.compareAndSet(end, end + 1)) {
                target = copy();
                first = 0;
                end = to - from;
                target.used.set(end + 1);
            }
            target.stamps[end] = stamp;
            target.totals[end] = units + (end == 0 ? 0 : target.totals[end - 1]);
            return new State(target, first, end + 1);
        }

        /** The state without its newest units, null when none is left. */
        @Nullable
        State minus(long units) {
            long left = units() - units;
            if (left <= 0) {
                return null;
            }
            Runs target = copy();
            int end = 0;
            while (target.totals[end] < left) {
                end++;
            }
            target.totals[end] = left;
            target.used.set(end + 1);
            return new State(target, 0, end + 1);
        }

        private Runs copy() {
            int length = to - from;
            Runs target = new Runs(Math.max(2, length + (length >> 1) + 1));
            System.arraycopy(runs.stamps, from, target.stamps, 0, length);
            long before = before();
            for (int i = 0; i < length; i++) {
                target.totals[i] = runs.totals[from + i] - before;
            }
            return target;
        }

        /** Stamp and units of each run in turn. */
        private long[] numbers() {
            long[] numbers = new long[2 * (to - from)];
            long total = before();
            for (int i = from; i < to; i++) {
                numbers[2 * (i - from)] = runs.stamps[i];
                numbers[2 * (i - from) + 1] = runs.totals[i] - total;
                total = runs.totals[i];
            }
            return numbers;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof State s && Arrays.equals(numbers(), s.numbers());
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(numbers());
        }
    }

    private SlidingWindowLog(long limit, Duration window) {
        this.limit = Exact.atLeastOne("limit", limit);
        if (limit > Integer.MAX_VALUE / 4) {
            throw new IllegalArgumentException(
                    "limit must be at most " + Integer.MAX_VALUE / 4 + " for a log, was " + limit);
        }
        this.window = window;
        this.windowMs = Exact.windowMs("window", window);
        Script.load("sliding_window_log");
    }

    /**
     * {@code limit} units in any window.
     *
     * @param limit at least 1, at most 536870911
     * @param window whole milliseconds, more than 0
     * @return the strategy
     * @throws IllegalArgumentException if a value is out of range
     */
    public static SlidingWindowLog of(long limit, Duration window) {
        return new SlidingWindowLog(limit, window);
    }

    @Override
    public String name() {
        return "slidingWindowLog";
    }

    @Override
    public long limit() {
        return limit;
    }

    @Override
    public Duration window() {
        return window;
    }

    @Override
    public Transform<State, Decision> check(long min, long max) {
        if (min == 1 && max == 1) {
            return one;
        }
        Exact.range(min, max);
        return new Check(min, max, false);
    }

    @Override
    public Transform<State, Decision> peek() {
        return new Check(1, 1, true);
    }

    @Override
    public Transform<State, Forecast> forecast(long cost) {
        Exact.cost(cost);
        return new Look(cost);
    }

    @Override
    public Transform<State, Boolean> refund(long cost, @Nullable Decision charged) {
        Exact.cost(cost);
        return new Refund(cost);
    }

    /** The few numbers a decision needs of a log. */
    private record View(long ms, long at, long units, long oldest, long newest, long kth) {}

    private long at(@Nullable State state, long ms) {
        return state == null ? ms : Math.max(ms, state.newest());
    }

    private @Nullable State live(@Nullable State state, long at) {
        return state == null ? null : state.after(at - windowMs);
    }

    private View view(@Nullable State state, long min, long nowMicros) {
        long ms = Math.floorDiv(nowMicros, 1000L);
        long at = at(state, ms);
        State live = live(state, at);
        if (live == null) {
            return new View(ms, at, 0, at, at, at);
        }
        long n = live.units();
        long k = Math.max(1, Math.min(n, n - limit + min));
        return new View(ms, at, n, live.oldest(), live.newest(), live.stamp(k));
    }

    private Decision decide(long granted, boolean peek, long min, long nowMicros, View view) {
        long remaining = Math.max(0, limit - view.units);
        long resetAtMs = Math.min(Exact.MAX_MS, view.oldest + windowMs);
        long nowMs = Exact.up(nowMicros);
        if (granted > 0 || (peek && remaining >= min)) {
            return Decision.allowed(granted, limit, remaining, resetAtMs, nowMs);
        }
        long waitMs = view.units == 0 ? windowMs : view.kth + windowMs - view.ms;
        return Decision.denied(min, limit, remaining, resetAtMs, Math.min(Exact.MAX_MS, waitMs), nowMs);
    }

    private Forecast forecast(long cost, long nowMicros, View view) {
        long nowMs = Exact.up(nowMicros);
        boolean unused = view.units == 0;
        return new Forecast(
                Math.max(0, limit - view.units) / cost,
                unused ? nowMs : Math.min(Exact.MAX_MS, view.oldest + windowMs),
                unused ? nowMs : Math.min(Exact.MAX_MS, view.newest + windowMs),
                nowMs);
    }

    /*
     * All operations: window, limit, then min and max of a check (min alone counts for a look) or the cost
     * of a refund. Replies granted, now, at, units, oldest, newest and k-th live stamp after the step, where k =
     * clamp(units + min − limit, 1, units); without stamps the last three are `at`.
     */
    private <R> Program<R> script(String operation, long a, long b, Function<List<Long>, R> reader) {
        return Script.of("sliding_window_log", operation, List.of(windowMs, limit, a, b), reader);
    }

    private static View viewOf(List<Long> reply) {
        long ms = Math.floorDiv(reply.get(1), 1000L);
        return new View(ms, reply.get(2), reply.get(3), reply.get(4), reply.get(5), reply.get(6));
    }

    private abstract class Base<R> implements Transform<State, R> {
        @Override
        public StateCodec<State> codec() {
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
        public Step<State> step(@Nullable State before, long nowMicros) {
            if (peek || min > limit) {
                return new Step<>(before, 0);
            }
            long at = at(before, Math.floorDiv(nowMicros, 1000L));
            State live = live(before, at);
            long units = Math.min(max, limit - (live == null ? 0 : live.units()));
            if (units < min) {
                return new Step<>(before, 0);
            }
            return new Step<>(live == null ? State.of(at, units) : live.plus(at, units), units);
        }

        @Override
        public Decision read(Step<State> step, long nowMicros) {
            return decide(step.granted(), peek, min, nowMicros, view(step.state(), min, nowMicros));
        }

        @Override
        public Program<Decision> program() {
            boolean look = peek || min > limit;
            return script(
                    look ? "look" : "check",
                    min,
                    look ? min : Math.min(max, limit),
                    reply -> decide(reply.get(0), peek, min, reply.get(1), viewOf(reply)));
        }
    }

    private final class Look extends Base<Forecast> {
        private final long cost;

        Look(long cost) {
            this.cost = cost;
        }

        @Override
        public Step<State> step(@Nullable State before, long nowMicros) {
            return new Step<>(before, 0);
        }

        @Override
        public Forecast read(Step<State> step, long nowMicros) {
            return forecast(cost, nowMicros, view(step.state(), 1, nowMicros));
        }

        @Override
        public Program<Forecast> program() {
            return script("look", 1, 1, reply -> forecast(cost, reply.get(1), viewOf(reply)));
        }
    }

    private final class Refund extends Base<Boolean> {
        private final long cost;

        Refund(long cost) {
            this.cost = cost;
        }

        @Override
        public Step<State> step(@Nullable State before, long nowMicros) {
            State live = live(before, at(before, Math.floorDiv(nowMicros, 1000L)));
            if (live == null) {
                return new Step<>(before, 0);
            }
            return new Step<>(live.minus(cost), Math.min(cost, live.units()));
        }

        @Override
        public Boolean read(Step<State> step, long nowMicros) {
            return step.granted() > 0;
        }

        @Override
        public Program<Boolean> program() {
            return script("refund", Math.min(cost, limit), 0, reply -> reply.get(0) > 0);
        }
    }

    private final class Codec implements StateCodec<State> {
        @Override
        public String kind() {
            return "slidingWindowLog";
        }

        @Override
        public byte[] encode(State state) {
            return Text.of(state.numbers());
        }

        @Override
        public State decode(byte[] bytes) {
            long[] numbers = Text.numbers(bytes);
            if (numbers.length % 2 != 0) {
                throw new IllegalArgumentException("state must be pairs of stamp and units");
            }
            for (int i = 1; i < numbers.length; i += 2) {
                if (numbers[i] < 0) {
                    throw new IllegalArgumentException("units must be at least 0, were " + numbers[i]);
                }
            }
            State state = State.of(numbers[0], numbers[1]);
            for (int i = 2; i < numbers.length; i += 2) {
                state = state.plus(numbers[i], numbers[i + 1]);
            }
            return state;
        }

        @Override
        public long expiresAt(State state) {
            return Math.multiplyExact(state.newest() + windowMs, 1000L);
        }

        @Override
        public long remaining(State state, long nowMicros) {
            return Math.max(0, limit - view(state, 1, nowMicros).units());
        }
    }
}
