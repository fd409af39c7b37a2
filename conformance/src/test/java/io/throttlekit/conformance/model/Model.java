package io.throttlekit.conformance.model;

import io.throttlekit.Decision;
import io.throttlekit.Forecast;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/** One key under one strategy. The state stays as it is until something is taken or given back. */
public abstract class Model {
    private static final BigInteger MOST = BigInteger.ONE.shiftLeft(53).subtract(BigInteger.ONE);

    private final long limit;

    Model(long limit) {
        this.limit = limit;
    }

    final long limit() {
        return limit;
    }

    /** What could be granted now; may be negative or beyond the limit's type. */
    abstract BigInteger available(long nowMicros);

    /** Takes what is available. */
    abstract void take(long nowMicros, long units);

    /** When the key is as if never used, epoch ms, as a decision tells it now. */
    abstract BigInteger resetAtMs(long nowMicros);

    /** How long a request that is not available has to wait, in ms. */
    abstract BigInteger waitMs(long nowMicros, long cost);

    abstract BigInteger nextReplenishAtMs(long nowMicros);

    abstract BigInteger fullAtMs(long nowMicros);

    /** Gives units back. */
    public abstract void refund(long nowMicros, long cost, @Nullable Long resetAtMs);

    private long remaining(long nowMicros) {
        return available(nowMicros).max(BigInteger.ZERO).longValueExact();
    }

    /** Decides, and takes what it grants. */
    public final Decision check(long nowMicros, long min, long max) {
        BigInteger most = BigInteger.valueOf(max).min(available(nowMicros));
        if (most.compareTo(BigInteger.valueOf(min)) < 0) {
            return denied(nowMicros, min);
        }
        long granted = most.longValueExact();
        take(nowMicros, granted);
        return Decision.allowed(
                granted, limit, remaining(nowMicros), saturated(resetAtMs(nowMicros)), up(Ratio.of(nowMicros)));
    }

    /** Answers as a check of 1 would, and takes nothing. */
    public final Decision peek(long nowMicros) {
        return available(nowMicros).signum() > 0
                ? Decision.allowed(
                        0, limit, remaining(nowMicros), saturated(resetAtMs(nowMicros)), up(Ratio.of(nowMicros)))
                : denied(nowMicros, 1);
    }

    /** Tells what can be spent. */
    public final Forecast forecast(long nowMicros, long cost) {
        return new Forecast(
                remaining(nowMicros) / cost,
                saturated(nextReplenishAtMs(nowMicros)),
                saturated(fullAtMs(nowMicros)),
                up(Ratio.of(nowMicros)));
    }

    private Decision denied(long nowMicros, long cost) {
        return Decision.denied(
                cost,
                limit,
                remaining(nowMicros),
                saturated(resetAtMs(nowMicros)),
                Math.max(1, saturated(waitMs(nowMicros, cost))),
                up(Ratio.of(nowMicros)));
    }

    static BigInteger ms(Ratio micros) {
        return micros.by(1000).ceil();
    }

    private static long saturated(BigInteger ms) {
        return ms.min(MOST).longValueExact();
    }

    private static long up(Ratio micros) {
        return saturated(ms(micros));
    }

    static BigInteger floorMs(long nowMicros) {
        return Ratio.of(nowMicros).by(1000).floor();
    }
}
