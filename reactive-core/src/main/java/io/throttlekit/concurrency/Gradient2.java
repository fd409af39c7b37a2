package io.throttlekit.concurrency;

/**
 * Follows the gradient of the RTT: {@code limit · gradient + √limit}.
 *
 * <p>The form is that of {@code Gradient2Limit} of Netflix's concurrency-limits; the square root is the number
 * of requests that may queue so that the server never idles between two of them. It is granted in full only
 * while there is no queue. Once there is one, half of it is, so that the limit comes to rest at
 * C&nbsp;+&nbsp;½√C, where C is the server's capacity, and so that a drop never raises a small limit.
 *
 * <p>The smoothing is per sample, as in the plain law. A round of n samples that point the same way has gone
 * 1&nbsp;&minus;&nbsp;(1&nbsp;&minus;&nbsp;smoothing)<sup>n</sup> of the way.
 */
record Gradient2(double smoothing) implements Law {
    @Override
    public double grow(double limit, int samples, boolean shrunkBefore) {
        return limit + Math.sqrt(limit);
    }

    @Override
    public double shrink(double limit, double gradient) {
        return limit * gradient + Math.sqrt(limit) / 2;
    }

    @Override
    public double weight(int samples) {
        return 1 - Math.pow(1 - smoothing, samples);
    }
}
