package io.throttlekit;

import java.math.BigInteger;

/**
 * An instant in exact microseconds: {@code whole + part/of}.
 *
 * <p>Rates such as 27 per second step by {@code 1000000/27} microseconds. A {@code double} cannot hold
 * such an instant at today's epoch and loses whole permits; a fraction can.
 *
 * @param whole epoch microseconds, rounded down
 * @param part numerator of the fraction, {@code 0 <= part < of}
 * @param of denominator, at least 1
 */
public record ExactMicros(long whole, long part, long of) {
    /**
     * Checks the fraction.
     *
     * @throws IllegalArgumentException if the fraction is not in [0, 1)
     */
    public ExactMicros {
        if (of < 1 || part < 0 || part >= of) {
            throw new IllegalArgumentException("part must be at least 0 and below of, was " + part + "/" + of);
        }
    }

    /**
     * The instant rounded up to whole microseconds.
     *
     * @return epoch microseconds
     */
    public long ceil() {
        return part == 0 ? whole : whole + 1;
    }

    /**
     * The same instant, or the first one after it, with another denominator.
     *
     * @param denominator at least 1, at most 10<sup>12</sup>
     * @return an instant that is not earlier than this
     */
    public ExactMicros over(long denominator) {
        if (denominator == of) {
            return this;
        }
        if (part == 0) {
            return new ExactMicros(whole, 0, denominator);
        }
        long scaled = BigInteger.valueOf(part)
                .multiply(BigInteger.valueOf(denominator))
                .add(BigInteger.valueOf(of - 1))
                .divide(BigInteger.valueOf(of))
                .longValueExact();
        return scaled == denominator
                ? new ExactMicros(whole + 1, 0, denominator)
                : new ExactMicros(whole, scaled, denominator);
    }
}
