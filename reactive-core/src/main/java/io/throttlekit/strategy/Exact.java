package io.throttlekit.strategy;

import io.throttlekit.Strategy;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/** Whole-number arithmetic and argument checks that the strategies share. */
final class Exact {
    /** Instants and waits in milliseconds saturate here, where a double still counts by one. */
    static final long MAX_MS = (1L << 53) - 1;
    /** Denominators stop here, so that 17 decimal digits of a fraction stay exact. */
    static final long MAX_DENOMINATOR = 1_000_000_000_000L;
    /** Spans stop here (142 years), so that now plus a span is exact in a script's numbers. */
    static final long MAX_SPAN_MICROS = 1L << 52;

    private Exact() {}

    static long ceilDiv(long x, long y) {
        return -Math.floorDiv(-x, y);
    }

    /** Whole microseconds to milliseconds, rounded up, saturating. */
    static long up(long micros) {
        return Math.min(MAX_MS, ceilDiv(micros, 1000));
    }

    /** A sum that saturates. */
    static long sum(long x, long y) {
        long sum = x + y;
        boolean wrapped = ((x ^ sum) & (y ^ sum)) < 0;
        return wrapped ? (y > 0 ? Long.MAX_VALUE : Long.MIN_VALUE) : sum;
    }

    /** {@link #up} of a sum that may be beyond a long. */
    static long upOfSum(long micros, long more) {
        return up(sum(micros, more));
    }

    static long saturate(BigInteger value) {
        return value.bitLength() < 64 ? value.longValue() : value.signum() < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
    }

    static BigInteger big(long value) {
        return BigInteger.valueOf(value);
    }

    static BigInteger ceilDiv(BigInteger x, BigInteger y) {
        BigInteger[] parts = x.divideAndRemainder(y);
        return parts[1].signum() > 0 ? parts[0].add(BigInteger.ONE) : parts[0];
    }

    static long atLeastOne(String name, long value) {
        if (value < 1 || value > Strategy.MAX_COST) {
            throw new IllegalArgumentException(
                    name + " must be at least 1 and at most " + Strategy.MAX_COST + ", was " + value);
        }
        return value;
    }

    static BigDecimal positive(String name, BigDecimal value) {
        if (value.signum() <= 0) {
            throw new IllegalArgumentException(name + " must be more than 0, was " + value.toPlainString());
        }
        if (value.precision() > 40 || Math.abs((long) value.scale()) > 40) {
            throw new IllegalArgumentException(name + " must have at most 40 digits, was " + value);
        }
        return value;
    }

    /** The decimal that a double is written as: 1.67 is 167/100 and not the nearest binary fraction. */
    static BigDecimal asWritten(String name, double value) {
        if (!Double.isFinite(value)) {
            throw new IllegalArgumentException(name + " must be a finite number, was " + value);
        }
        return positive(name, BigDecimal.valueOf(value));
    }

    static long periodMicros(String name, Duration period) {
        return span(name, period, ChronoUnit.MICROS, MAX_SPAN_MICROS);
    }

    static long windowMs(String name, Duration window) {
        return span(name, window, ChronoUnit.MILLIS, MAX_SPAN_MICROS / 1000);
    }

    /** The length in whole units; 142 years at most, so that no conversion can overflow. */
    private static long span(String name, Duration duration, ChronoUnit unit, long most) {
        if (duration.isNegative() || duration.isZero() || duration.compareTo(Duration.of(most, unit)) > 0) {
            throw new IllegalArgumentException(name + " must be more than 0 and at most " + most + " "
                    + unit.name().toLowerCase(Locale.ROOT) + " (142 years), was " + duration);
        }
        long units = duration.dividedBy(unit.getDuration());
        if (!Duration.of(units, unit).equals(duration)) {
            throw new IllegalArgumentException(
                    name + " must be a whole number of " + unit.name().toLowerCase(Locale.ROOT) + ", was " + duration);
        }
        return units;
    }

    static void range(long min, long max) {
        if (min < 1 || max < min || max > Strategy.MAX_COST) {
            throw new IllegalArgumentException("cost must be from 1 to " + Strategy.MAX_COST
                    + (min == max ? ", was " + min : " and min at most max, was [" + min + ", " + max + "]"));
        }
    }

    static void cost(long cost) {
        range(cost, cost);
    }

    /**
     * The exact quotient of a count and a period in lowest terms.
     *
     * @param count numerator, positive
     * @param micros denominator, positive
     */
    static BigInteger[] ratio(BigDecimal count, long micros) {
        BigInteger numerator = count.unscaledValue();
        BigInteger denominator = big(micros);
        if (count.scale() > 0) {
            denominator = denominator.multiply(BigInteger.TEN.pow(count.scale()));
        } else {
            numerator = numerator.multiply(BigInteger.TEN.pow(-count.scale()));
        }
        BigInteger gcd = numerator.gcd(denominator);
        return new BigInteger[] {numerator.divide(gcd), denominator.divide(gcd)};
    }
}
