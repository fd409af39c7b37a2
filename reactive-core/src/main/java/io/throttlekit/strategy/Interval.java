package io.throttlekit.strategy;

import static io.throttlekit.strategy.Exact.big;

import java.math.BigDecimal;
import java.math.BigInteger;

/**
 * The exact time between two units of a rate, {@code T = P/L} microseconds in lowest terms, and its
 * multiples.
 *
 * <p>A multiple {@code n·T} is kept as whole microseconds and a fraction {@code k/L}. For {@code n} up to
 * {@code burst} the products stay in a {@code long}, which is checked when the interval is made.
 */
final class Interval {
    /** P: ticks per unit, where a tick is 1/L microseconds. */
    final long ticks;
    /** L: ticks per microsecond. */
    final long perMicro;

    private final long whole;
    private final long part;
    /** Up to here a room's ticks fit a long. */
    private final long plainRoom;

    private Interval(long ticks, long perMicro) {
        this.ticks = ticks;
        this.perMicro = perMicro;
        this.whole = ticks / perMicro;
        this.part = ticks % perMicro;
        this.plainRoom = Long.MAX_VALUE / perMicro - 1;
    }

    /**
     * The interval of {@code count} units per {@code periodMicros}.
     *
     * @throws IllegalArgumentException if {@code most} intervals cannot be kept exact
     */
    static Interval of(String countName, BigDecimal count, long periodMicros, String mostName, long most) {
        BigInteger[] rate = Exact.ratio(count, periodMicros);
        BigInteger l = rate[0];
        BigInteger p = rate[1];
        String what = countName + " " + count.toPlainString() + " per " + periodMicros + " us";
        if (l.compareTo(big(Exact.MAX_DENOMINATOR)) > 0) {
            throw new IllegalArgumentException(what + " cannot be kept exact: its interval is " + p + "/" + l
                    + " us, and the denominator must be at most " + Exact.MAX_DENOMINATOR);
        }
        if (p.multiply(big(most)).compareTo(l.multiply(big(Exact.MAX_SPAN_MICROS))) > 0) {
            throw new IllegalArgumentException(what + " with " + mostName + " " + most + " spans more than "
                    + Exact.MAX_SPAN_MICROS + " us (142 years)");
        }
        if (l.multiply(big(most)).bitLength() > 63 || p.bitLength() > 63) {
            throw new IllegalArgumentException(what + " with " + mostName + " " + most
                    + " cannot be kept exact: its interval is " + p + "/" + l + " us, and " + mostName + " times " + l
                    + " must be below 2^63");
        }
        return new Interval(p.longValueExact(), l.longValueExact());
    }

    /** Whole microseconds of {@code n·T}, rounded down. */
    long wholeOf(long n) {
        return n * whole + n * part / perMicro;
    }

    /** The rest of {@code n·T}, in ticks. */
    long partOf(long n) {
        return n * part % perMicro;
    }

    BigInteger ticksOf(long n) {
        return big(n).multiply(big(ticks));
    }

    /** {@code floor(room / T)} for a room of {@code whole + part/L} microseconds, at least 0. */
    long unitsIn(long roomWhole, long roomPart) {
        if (roomWhole < 0) {
            return 0;
        }
        if (roomWhole <= plainRoom) {
            return (roomWhole * perMicro + roomPart) / ticks;
        }
        return big(roomWhole)
                .multiply(big(perMicro))
                .add(big(roomPart))
                .divide(big(ticks))
                .longValueExact();
    }
}
