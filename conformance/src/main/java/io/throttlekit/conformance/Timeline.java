package io.throttlekit.conformance;

import io.throttlekit.Decision;
import io.throttlekit.Step;
import io.throttlekit.Strategy;
import io.throttlekit.Transform;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Random operations on one key of a strategy, and the state that its function makes of them. The state goes
 * through the codec at every step.
 *
 * <p>The clock steps back now and then, but never behind a time at which the state was seen expired: whether a
 * store has forgotten it by then is the store's business.
 */
final class Timeline<S> {
    /** The instants a timeline starts at: the epoch, a leap day, and today. */
    private static final long[] STARTS = {0, 951_782_400_000_000L, 1_759_996_572_738_000L};

    private static final long LONGEST_MICROS = 1L << 50;

    private final Strategy<S> strategy;
    private final Random random;
    private final long windowMicros;
    private final boolean forecasts;
    private final boolean refunds;
    private byte @Nullable [] kept;
    private long now;
    private long notBefore = Long.MIN_VALUE;
    private long waitMicros;
    private @Nullable Decision charged;

    /**
     * One operation.
     *
     * @param text what it is, for messages
     * @param transform makes its transform, a new one at each call
     */
    record Operation<S>(String text, Supplier<Transform<S, ?>> transform) {}

    Timeline(Strategy<S> strategy, long seed) {
        this.strategy = strategy;
        this.random = new Random(seed);
        Duration window = strategy.window();
        this.windowMicros = window == null
                ? 86_400_000_000L
                : Math.max(1, Math.min(LONGEST_MICROS, TimeUnit.MICROSECONDS.convert(window)));
        this.forecasts = can(() -> strategy.forecast(1));
        this.refunds = can(() -> strategy.refund(1, null));
        this.now = STARTS[random.nextInt(STARTS.length)] + random.nextLong(10_000_000);
    }

    private static boolean can(Supplier<Transform<?, ?>> transform) {
        try {
            return transform.get() != null;
        } catch (UnsupportedOperationException e) {
            return false;
        }
    }

    boolean forecasts() {
        return forecasts;
    }

    boolean refunds() {
        return refunds;
    }

    long now() {
        return now;
    }

    /** The state as a store would hand it to a transform now. */
    @Nullable
    S state() {
        S state = kept == null ? null : strategy.check(1, 1).codec().decode(kept);
        return alive(state, now);
    }

    /** The state, or null when it has expired. */
    @Nullable
    S alive(@Nullable S state, long nowMicros) {
        return state == null || strategy.check(1, 1).codec().expiresAt(state) <= nowMicros ? null : state;
    }

    /** Plays an operation on the function and returns its answer. */
    Object play(Operation<S> operation) {
        return play(operation.transform.get());
    }

    @SuppressWarnings("ReferenceEquality") // the very object means no change
    private <R> R play(Transform<S, R> transform) {
        S before = state();
        if (before == null && kept != null) {
            notBefore = now;
        }
        Step<S> step = transform.step(before, now);
        R answer = transform.read(step, now);
        S after = step.state();
        if (after != before) {
            kept = after == null ? null : transform.codec().encode(after);
        }
        if (answer instanceof Decision decision) {
            waitMicros = Math.min(decision.retryAfterMs(), windowMicros) * 1000;
            charged = decision.granted() > 0 ? decision : charged;
        }
        return answer;
    }

    /** Moves the clock and draws what happens then. */
    Operation<S> next() {
        move();
        int kind = random.nextInt(20);
        if (kind < 9) {
            long cost = cost();
            return new Operation<>("check " + cost, () -> strategy.check(cost, cost));
        }
        if (kind < 13) {
            long a = cost();
            long b = cost();
            return new Operation<>(
                    "check from " + Math.min(a, b) + " to " + Math.max(a, b),
                    () -> strategy.check(Math.min(a, b), Math.max(a, b)));
        }
        if (kind < 15 && forecasts) {
            long cost = cost();
            return new Operation<>("forecast " + cost, () -> strategy.forecast(cost));
        }
        if (kind < 18 && refunds) {
            long cost = cost();
            Decision decision = random.nextBoolean() ? charged : null;
            return new Operation<>("refund " + cost + " of " + decision, () -> strategy.refund(cost, decision));
        }
        return new Operation<>("peek", strategy::peek);
    }

    private void move() {
        long earlier = now;
        now += switch (random.nextInt(12)) {
            case 0, 1, 2 -> 0;
            case 3 -> random.nextLong(2_000);
            case 4, 5 -> random.nextLong(2 + 2 * windowMicros / strategy.limit());
            case 6 -> random.nextLong(1 + windowMicros);
            case 7 -> windowMicros + random.nextLong(1 + 2 * windowMicros);
            case 8 -> -random.nextLong(2_000_000);
            case 9 -> -random.nextLong(1 + windowMicros);
            case 10 -> waitMicros;
            default -> Math.max(0, waitMicros - 1_000);
        };
        if (now < notBefore) {
            now = earlier;
        }
    }

    /** A cost, mostly one that can be had. */
    long cost() {
        long limit = strategy.limit();
        return switch (random.nextInt(10)) {
            case 0 -> limit;
            case 1 -> Math.min(Strategy.MAX_COST, limit + 1 + random.nextLong(limit));
            case 2 -> random.nextInt(20) == 0 ? Strategy.MAX_COST : 1;
            case 3, 4 -> 1 + random.nextLong(limit);
            default -> 1 + random.nextLong(Math.max(1, limit / 4));
        };
    }
}
