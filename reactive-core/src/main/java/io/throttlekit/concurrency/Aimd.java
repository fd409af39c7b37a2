package io.throttlekit.concurrency;

/**
 * Additive increase, multiplicative decrease, as TCP does it (RFC 5681).
 *
 * <p>Until the limit was first too high, each healthy sample adds one, which doubles the limit per round at
 * most: that is slow start. Afterwards each round adds one: that is congestion avoidance.
 */
record Aimd(double backoffRatio) implements Law {
    @Override
    public double grow(double limit, int samples, boolean shrunkBefore) {
        return limit + (shrunkBefore ? 1 : Math.min(samples, limit));
    }

    @Override
    public double shrink(double limit, double gradient) {
        return limit * backoffRatio;
    }

    @Override
    public double weight(int samples) {
        return 1;
    }
}
