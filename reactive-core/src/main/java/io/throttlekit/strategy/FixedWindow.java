package io.throttlekit.strategy;

import io.throttlekit.Decision;
import io.throttlekit.Forecast;
import io.throttlekit.Strategy;
import io.throttlekit.Transform;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * At most {@code limit} units in each window, where windows are aligned to the epoch.
 *
 * <p>Simple and cheap, and the only shape that some contracts have; but around a window's edge up to twice
 * the limit passes within one window's length. Take {@link Gcra} or {@link SlidingWindow} where that hurts.
 */
public final class FixedWindow implements Strategy<WindowState> {
    private final Counter counter;
    private final Duration window;

    private FixedWindow(long limit, Duration window) {
        this.counter = new Counter("fixedWindow", limit, new Periods.Fixed(Exact.windowMs("window", window), 0));
        this.window = window;
    }

    /**
     * {@code limit} units per window.
     *
     * @param limit at least 1
     * @param window whole milliseconds, more than 0
     * @return the strategy
     * @throws IllegalArgumentException if a value is out of range
     */
    public static FixedWindow of(long limit, Duration window) {
        return new FixedWindow(limit, window);
    }

    @Override
    public String name() {
        return "fixedWindow";
    }

    @Override
    public long limit() {
        return counter.limit();
    }

    @Override
    public Duration window() {
        return window;
    }

    @Override
    public Transform<WindowState, Decision> check(long min, long max) {
        return counter.check(min, max);
    }

    @Override
    public Transform<WindowState, Decision> peek() {
        return counter.peek();
    }

    @Override
    public Transform<WindowState, Forecast> forecast(long cost) {
        return counter.forecast(cost);
    }

    @Override
    public Transform<WindowState, Boolean> refund(long cost, @Nullable Decision charged) {
        return counter.refund(cost, charged);
    }
}
