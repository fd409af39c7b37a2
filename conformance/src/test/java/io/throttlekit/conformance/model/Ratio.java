package io.throttlekit.conformance.model;

import java.math.BigDecimal;
import java.math.BigInteger;

/**
 * A rational number.
 *
 * @param over numerator
 * @param under denominator, at least 1
 */
record Ratio(BigInteger over, BigInteger under) implements Comparable<Ratio> {
    static final Ratio ZERO = of(0);

    static Ratio of(long whole) {
        return new Ratio(BigInteger.valueOf(whole), BigInteger.ONE);
    }

    static Ratio of(BigDecimal decimal) {
        return decimal.scale() <= 0
                ? new Ratio(decimal.toBigIntegerExact(), BigInteger.ONE)
                : reduced(decimal.unscaledValue(), BigInteger.TEN.pow(decimal.scale()));
    }

    private static Ratio reduced(BigInteger over, BigInteger under) {
        BigInteger common = over.gcd(under).max(BigInteger.ONE);
        return new Ratio(over.divide(common), under.divide(common));
    }

    Ratio plus(Ratio other) {
        return reduced(over.multiply(other.under).add(other.over.multiply(under)), under.multiply(other.under));
    }

    Ratio plus(long whole) {
        return plus(of(whole));
    }

    Ratio minus(Ratio other) {
        return plus(new Ratio(other.over.negate(), other.under));
    }

    Ratio minus(long whole) {
        return minus(of(whole));
    }

    Ratio times(Ratio other) {
        return reduced(over.multiply(other.over), under.multiply(other.under));
    }

    Ratio times(long whole) {
        return times(of(whole));
    }

    /** Divides by a positive number. */
    Ratio by(Ratio positive) {
        return reduced(over.multiply(positive.under), under.multiply(positive.over));
    }

    Ratio by(long positive) {
        return by(of(positive));
    }

    Ratio max(Ratio other) {
        return compareTo(other) >= 0 ? this : other;
    }

    Ratio min(Ratio other) {
        return compareTo(other) <= 0 ? this : other;
    }

    BigInteger floor() {
        BigInteger[] parts = over.divideAndRemainder(under);
        return parts[1].signum() < 0 ? parts[0].subtract(BigInteger.ONE) : parts[0];
    }

    BigInteger ceil() {
        BigInteger floor = floor();
        return floor.multiply(under).equals(over) ? floor : floor.add(BigInteger.ONE);
    }

    boolean isMoreThan(Ratio other) {
        return compareTo(other) > 0;
    }

    @Override
    public int compareTo(Ratio other) {
        return over.multiply(other.under).compareTo(other.over.multiply(under));
    }
}
