package io.throttlekit.strategy;

import static io.throttlekit.strategy.Exact.big;

import java.math.BigInteger;

/**
 * Exact division of a dividend from 0 to 2<sup>60</sup> by a constant that is known only at run time, without
 * a division.
 *
 * <p>With {@code 2^60 / 2^shift <= 1} and {@code m = ceil(2^shift / d)}, the error of {@code n·m / 2^shift} stays
 * below {@code 1/d}, so that rounding down gives the quotient (Granlund and Montgomery, "Division by invariant
 * integers using multiplication", 1994). A hardware division of 64 bits takes about as long as everything else
 * that a decision computes.
 */
final class Divisor {
    private final long divisor;
    /** The multiplier, or 0 where the hardware divides: powers of two below 16, which are few. */
    private final long multiplier;
    /** Bits to drop from the upper half of the product. */
    private final int shift;

    Divisor(long divisor) {
        this.divisor = divisor;
        int bits = 64 - Long.numberOfLeadingZeros(divisor - 1);
        int total = Math.max(64, 60 + bits);
        BigInteger exact = Exact.ceilDiv(BigInteger.ONE.shiftLeft(total), big(divisor));
        this.multiplier = exact.bitLength() > 63 ? 0 : exact.longValueExact();
        this.shift = total - 64;
    }

    /** {@code floor(n / divisor)} for {@code 0 <= n <= 2^60}. */
    long into(long n) {
        return multiplier == 0 ? n / divisor : Math.multiplyHigh(n, multiplier) >> shift;
    }

    /** {@code floor(n / divisor)} for any {@code n}; one from 0 to 2^60 is quick. */
    long floor(long n) {
        return n >>> 60 == 0 ? into(n) : Math.floorDiv(n, divisor);
    }

    /** {@code ceil(n / divisor)} for an {@code n} so far from the greatest that the divisor can be added. */
    long ceil(long n) {
        return floor(n + divisor - 1);
    }
}
