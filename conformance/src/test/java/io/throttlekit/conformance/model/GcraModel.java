package io.throttlekit.conformance.model;

import java.math.BigDecimal;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/** The generic cell rate algorithm. */
public final class GcraModel extends Model {
    private final Ratio unit;
    private final Ratio tau;
    private @Nullable Ratio state;

    /** A key that was never used. */
    public GcraModel(BigDecimal limit, long periodMicros, long burst) {
        super(burst);
        this.unit = Ratio.of(periodMicros).by(Ratio.of(limit));
        this.tau = unit.times(burst);
    }

    private Ratio tat(long nowMicros) {
        Ratio now = Ratio.of(nowMicros);
        return state == null ? now : state.max(now);
    }

    @Override
    BigInteger available(long nowMicros) {
        return tau.minus(tat(nowMicros).minus(nowMicros)).by(unit).floor();
    }

    @Override
    void take(long nowMicros, long units) {
        state = tat(nowMicros).plus(unit.times(units));
    }

    @Override
    BigInteger resetAtMs(long nowMicros) {
        return ms(tat(nowMicros));
    }

    @Override
    BigInteger waitMs(long nowMicros, long cost) {
        return ms(tat(nowMicros).plus(unit.times(cost)).minus(tau).minus(nowMicros));
    }

    @Override
    BigInteger nextReplenishAtMs(long nowMicros) {
        long available = available(nowMicros).max(BigInteger.ZERO).longValueExact();
        return available == limit()
                ? ms(Ratio.of(nowMicros))
                : ms(tat(nowMicros).plus(unit.times(available + 1)).minus(tau));
    }

    @Override
    BigInteger fullAtMs(long nowMicros) {
        return ms(tat(nowMicros));
    }

    @Override
    public void refund(long nowMicros, long cost, @Nullable Long resetAtMs) {
        if (state != null && state.isMoreThan(Ratio.of(nowMicros))) {
            Ratio after = state.minus(unit.times(cost));
            state = after.isMoreThan(Ratio.of(nowMicros)) ? after : null;
        }
    }
}
