package io.throttlekit.strategy;

import static io.throttlekit.strategy.Exact.big;

import io.throttlekit.Decision;
import io.throttlekit.Forecast;
import io.throttlekit.Program;
import io.throttlekit.StateCodec;
import io.throttlekit.Step;
import io.throttlekit.Strategy;
import io.throttlekit.Transform;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * At most {@code limit} units over the last {@code window}, counted in {@code buckets} and with the oldest
 * bucket fading out linearly: no window edge lets twice the limit through, and the state stays small.
 *
 * <p>More buckets are more exact and cost more state. A change of window or buckets starts a key afresh.
 */
public final class SlidingWindow implements Strategy<SlidingWindow.State> {
    /*
     * The window is cut into S buckets of W/S ms, which need not be whole. Everything is multiplied through
     * by S, so that time counts in 1/S ms: bucket c starts at c·W, the part of it that is over is
     * e = ms·S − c·W, and
     *
     *     estimate·W = full·W + old·(W − e)
     *
     * with full the sum of buckets c−S+1 … c and old the one before. Nothing being added, the estimate falls
     * linearly to `full` at the end of the bucket, where the next bucket takes up at the same value. So the
     * first instant at which it is at most x lies in the first bucket whose full is at most x.
     */
    static final int DEFAULT_BUCKETS = 10;
    /** Keeps ms·buckets exact in a script's numbers until the year 2255. */
    private static final int MAX_BUCKETS = 1000;

    private final String name;
    private final long limit;
    private final Duration window;
    private final long windowMs;
    private final int buckets;
    private final Divisor byWindow;
    private final Divisor byBuckets;
    private final Codec codec = new Codec();
    private final Check one = new Check(1, 1, false);

    /** Counts of the newest bucket that was ever touched and of the {@code buckets} before it. */
    public static final class State {
        private final long windowMs;
        private final long newest;
        /** Index i counts bucket {@code newest - i}; the last index is the fading one. */
        private final long[] counts;
        /** The sum of all but the fading one. */
        private final long full;

        private State(long windowMs, long newest, long[] counts, long full) {
            this.windowMs = windowMs;
            this.newest = newest;
            this.counts = counts;
            this.full = full;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof State s
                    && windowMs == s.windowMs
                    && newest == s.newest
                    && Arrays.equals(counts, s.counts);
        }

        @Override
        public int hashCode() {
            return 31 * Long.hashCode(newest) + Arrays.hashCode(counts);
        }
    }

    SlidingWindow(String name, long limit, Duration window, int buckets) {
        this.name = name;
        this.limit = Exact.atLeastOne("limit", limit);
        this.window = window;
        this.windowMs = Exact.windowMs("window", window);
        if (buckets < 1 || buckets > MAX_BUCKETS) {
            throw new IllegalArgumentException("buckets must be from 1 to " + MAX_BUCKETS + ", was " + buckets);
        }
        this.buckets = buckets;
        this.byWindow = new Divisor(windowMs);
        this.byBuckets = new Divisor(buckets);
        if (big(limit).multiply(big(windowMs)).bitLength() > 62) {
            throw new IllegalArgumentException(
                    "limit " + limit + " times window " + windowMs + " ms cannot be kept exact: it must be below 2^62");
        }
        Script.load("sliding_window");
    }

    /**
     * {@code limit} units per sliding window, in 10 buckets.
     *
     * @param limit at least 1
     * @param window whole milliseconds, more than 0
     * @return the strategy
     * @throws IllegalArgumentException if a value is out of range or cannot be kept exact
     */
    public static SlidingWindow of(long limit, Duration window) {
        return of(limit, window, DEFAULT_BUCKETS);
    }

    /**
     * {@code limit} units per sliding window.
     *
     * @param limit at least 1
     * @param window whole milliseconds, more than 0
     * @param buckets from 1 to 1000
     * @return the strategy
     * @throws IllegalArgumentException if a value is out of range or cannot be kept exact
     */
    public static SlidingWindow of(long limit, Duration window, int buckets) {
        return new SlidingWindow("slidingWindow", limit, window, buckets);
    }

    @Override
    public String name() {
        return name;
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

    /** A bucket of the future, when nothing more is added: its own sum and the one that fades in it. */
    private record Bucket(long tick, long full, long old) {}

    /** The buckets as they stand at a time; its ticks never fall behind the newest one seen. */
    private final class View {
        final long ms;
        final long tick;
        final long full;
        final long old;
        /** The part of the bucket that is over, in 1/buckets ms; 0 while now is behind the bucket. */
        final long over;

        View(long ms, long tick, long full, long old) {
            this.ms = ms;
            this.tick = tick;
            this.full = full;
            this.old = old;
            this.over = Math.max(0, ms * buckets - tick * windowMs);
        }

        long available() {
            long taken = byWindow.ceil(old * (windowMs - over));
            return Math.max(0, limit - full - taken);
        }

        long resetAtMs() {
            return Math.min(Exact.MAX_MS, byBuckets.ceil(Math.multiplyExact(tick + 1, windowMs)) + windowMs);
        }

        /** The first ms at which the estimate is at most x, in the first bucket whose full is at most x. */
        long when(Bucket at, long x) {
            long above = at.full + at.old - x;
            if (above <= 0) {
                // Only this bucket can begin so low; a later one begins where the one before it was above x.
                return ms;
            }
            long offset = Exact.ceilDiv(above * windowMs, at.old);
            return Math.max(ms, Exact.ceilDiv(Math.addExact(Math.multiplyExact(at.tick, windowMs), offset), buckets));
        }
    }

    private boolean fits(@Nullable State state) {
        return state != null && state.windowMs == windowMs && state.counts.length == buckets + 1;
    }

    private long tickAt(@Nullable State state, long ms) {
        long at = Math.multiplyExact(ms, (long) buckets);
        // Most often it is the newest bucket still.
        return state != null && at - state.newest * windowMs < windowMs ? state.newest : byWindow.floor(at);
    }

    private static long count(@Nullable State state, long tick) {
        if (state == null) {
            return 0;
        }
        long back = state.newest - tick;
        return back >= 0 && back < state.counts.length ? state.counts[(int) back] : 0;
    }

    private View view(@Nullable State kept, long nowMicros) {
        State state = fits(kept) ? kept : null;
        long ms = Math.floorDiv(nowMicros, 1000L);
        long tick = tickAt(state, ms);
        long full = 0;
        if (state != null && tick == state.newest) {
            full = state.full;
        } else if (state != null) {
            // Bucket newest − i is one of the last S as long as i + (tick − newest) is below S.
            int live = (int) Math.max(0, buckets - Math.min(buckets, tick - state.newest));
            for (int i = 0; i < live; i++) {
                full += state.counts[i];
            }
        }
        return new View(ms, tick, full, count(state, tick - buckets));
    }

    /** The first bucket whose full is at most x. */
    private Bucket find(@Nullable State kept, View view, long x) {
        State state = fits(kept) ? kept : null;
        Bucket bucket = new Bucket(view.tick, view.full, view.old);
        while (bucket.full > x) {
            long leaving = count(state, bucket.tick - buckets + 1);
            bucket = new Bucket(bucket.tick + 1, bucket.full - leaving, leaving);
        }
        return bucket;
    }

    private long target(long cost) {
        return cost > limit ? 0 : limit - cost;
    }

    /** The state with {@code units} added to the current bucket, not below 0. */
    private State plus(@Nullable State kept, long tick, long units) {
        State state = fits(kept) ? kept : null;
        long[] counts = new long[buckets + 1];
        long full = 0;
        if (state != null) {
            int shift = (int) Math.min(counts.length, tick - state.newest);
            System.arraycopy(state.counts, 0, counts, shift, counts.length - shift);
            full = shift == 0 ? state.full : full(counts);
        }
        long had = counts[0];
        counts[0] = Math.max(0, had + units);
        return new State(windowMs, tick, counts, full - had + counts[0]);
    }

    private static long full(long[] counts) {
        long full = 0;
        for (int i = 0; i < counts.length - 1; i++) {
            full += counts[i];
        }
        return full;
    }

    private Decision decide(long granted, boolean peek, long min, long nowMicros, View view, @Nullable Bucket denied) {
        long remaining = view.available();
        long nowMs = Exact.up(nowMicros);
        if (granted > 0 || (peek && remaining >= min)) {
            return Decision.allowed(granted, limit, remaining, view.resetAtMs(), nowMs);
        }
        long waitMs = denied == null ? 0 : view.when(denied, target(min)) - view.ms;
        return Decision.denied(min, limit, remaining, view.resetAtMs(), Math.max(1, waitMs), nowMs);
    }

    private Forecast forecast(long cost, long nowMicros, View view, Bucket next, Bucket empty) {
        long available = view.available();
        long nowMs = Exact.up(nowMicros);
        boolean unused = view.full + view.old == 0;
        return new Forecast(
                available / cost,
                available >= limit ? nowMs : Math.min(Exact.MAX_MS, view.when(next, limit - available - 1)),
                unused ? nowMs : Math.min(Exact.MAX_MS, view.when(empty, 0)),
                nowMs);
    }

    /*
     * check, look: window, buckets, limit, min, max, then the x to look for in a denial. forecast: window,
     * buckets, limit. refund: window, buckets, limit, cost. Replies granted, now, tick, full and old after the
     * step; then for each x that it looked for (one, or in a forecast limit − available − 1 and 0) tick,
     * full and old of the first bucket whose full is at most x.
     */
    private <R> Program<R> script(String operation, List<Long> more, Function<List<Long>, R> reader) {
        List<Long> args = new ArrayList<>(List.of(windowMs, (long) buckets, limit));
        args.addAll(more);
        return Script.of("sliding_window", operation, args, reader);
    }

    private View viewOf(List<Long> reply) {
        return new View(Math.floorDiv(reply.get(1), 1000L), reply.get(2), reply.get(3), reply.get(4));
    }

    private static Bucket bucketOf(List<Long> reply, int from) {
        return new Bucket(reply.get(from), reply.get(from + 1), reply.get(from + 2));
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
            View view = view(before, nowMicros);
            long units = Math.min(max, view.available());
            if (units < min) {
                return new Step<>(before, 0);
            }
            return new Step<>(plus(before, view.tick, units), units);
        }

        @Override
        public Decision read(Step<State> step, long nowMicros) {
            View view = view(step.state(), nowMicros);
            Bucket denied = step.granted() > 0 ? null : find(step.state(), view, target(min));
            return decide(step.granted(), peek, min, nowMicros, view, denied);
        }

        @Override
        public Program<Decision> program() {
            boolean look = peek || min > limit;
            return script(
                    look ? "look" : "check",
                    List.of(look ? 0 : min, look ? 0 : Math.min(max, limit), target(min)),
                    reply -> decide(reply.get(0), peek, min, reply.get(1), viewOf(reply), bucketOf(reply, 5)));
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
            View view = view(step.state(), nowMicros);
            Bucket next = find(step.state(), view, Math.max(0, limit - view.available() - 1));
            return forecast(cost, nowMicros, view, next, find(step.state(), view, 0));
        }

        @Override
        public Program<Forecast> program() {
            return script(
                    "forecast",
                    List.of(),
                    reply -> forecast(cost, reply.get(1), viewOf(reply), bucketOf(reply, 5), bucketOf(reply, 8)));
        }
    }

    private final class Refund extends Base<Boolean> {
        private final long cost;

        Refund(long cost) {
            this.cost = cost;
        }

        @Override
        public Step<State> step(@Nullable State before, long nowMicros) {
            State state = fits(before) ? before : null;
            if (state == null) {
                return new Step<>(before, 0);
            }
            long tick = tickAt(state, Math.floorDiv(nowMicros, 1000L));
            long had = count(state, tick);
            return had == 0 ? new Step<>(before, 0) : new Step<>(plus(state, tick, -cost), Math.min(had, cost));
        }

        @Override
        public Boolean read(Step<State> step, long nowMicros) {
            return step.granted() > 0;
        }

        @Override
        public Program<Boolean> program() {
            return script("refund", List.of(cost), reply -> reply.get(0) > 0);
        }
    }

    private final class Codec implements StateCodec<State> {
        @Override
        public String kind() {
            return name;
        }

        @Override
        public byte[] encode(State state) {
            long[] numbers = new long[state.counts.length + 2];
            numbers[0] = state.windowMs;
            numbers[1] = state.newest;
            System.arraycopy(state.counts, 0, numbers, 2, state.counts.length);
            return Text.of(numbers);
        }

        @Override
        public State decode(byte[] bytes) {
            long[] numbers = Text.numbers(bytes);
            if (numbers.length < 4 || numbers[0] < 1) {
                throw new IllegalArgumentException("state must be a window, a bucket and at least two counts");
            }
            long[] counts = Arrays.copyOfRange(numbers, 2, numbers.length);
            if (Arrays.stream(counts).anyMatch(count -> count < 0)) {
                throw new IllegalArgumentException("counts must be at least 0, were " + Arrays.toString(counts));
            }
            return new State(numbers[0], numbers[1], counts, full(counts));
        }

        @Override
        public long expiresAt(State state) {
            long end = Math.multiplyExact(state.newest + 1, state.windowMs);
            int parts = state.counts.length - 1;
            long ms = parts == buckets ? byBuckets.ceil(end) : Exact.ceilDiv(end, parts);
            return Math.multiplyExact(ms + state.windowMs, 1000L);
        }

        @Override
        public long remaining(State state, long nowMicros) {
            return view(state, nowMicros).available();
        }
    }
}
