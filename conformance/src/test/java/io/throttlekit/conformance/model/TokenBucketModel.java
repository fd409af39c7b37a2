package io.throttlekit.conformance.model;

import java.math.BigDecimal;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/** The token bucket. */
public final class TokenBucketModel extends Model {
    private final Ratio rate;
    private final Ratio capacity;
    private @Nullable State state;

    private record State(Ratio tokens, long at) {}

    /** A full bucket. */
    public TokenBucketModel(long capacity, BigDecimal refillTokens, long refillMicros) {
        super(capacity);
        this.capacity = Ratio.of(capacity);
        this.rate = Ratio.of(refillTokens).by(refillMicros);
    }

    private State at(long nowMicros) {
        if (state == null || hasExpired(state, nowMicros)) {
            return new State(capacity, nowMicros);
        }
        long at = Math.max(nowMicros, state.at);
        Ratio refilled = rate.times(Ratio.of(at).minus(state.at));
        return new State(capacity.min(state.tokens.plus(refilled)), at);
    }

    private boolean hasExpired(State kept, long nowMicros) {
        return !filling(kept).isMoreThan(Ratio.of(nowMicros));
    }

    private Ratio filling(State from) {
        return capacity.minus(from.tokens).by(rate).plus(from.at);
    }

    @Override
    BigInteger available(long nowMicros) {
        return at(nowMicros).tokens.floor();
    }

    @Override
    void take(long nowMicros, long units) {
        State at = at(nowMicros);
        state = new State(at.tokens.minus(units), at.at);
    }

    @Override
    BigInteger resetAtMs(long nowMicros) {
        return ms(filling(at(nowMicros)));
    }

    @Override
    BigInteger waitMs(long nowMicros, long cost) {
        State at = at(nowMicros);
        return ms(Ratio.of(cost).minus(at.tokens).by(rate).plus(at.at).minus(nowMicros));
    }

    @Override
    BigInteger nextReplenishAtMs(long nowMicros) {
        State at = at(nowMicros);
        if (at.tokens.compareTo(capacity) >= 0) {
            return ms(Ratio.of(at.at));
        }
        Ratio whole = new Ratio(at.tokens.floor().add(BigInteger.ONE), BigInteger.ONE);
        return ms(whole.minus(at.tokens).by(rate).plus(at.at));
    }

    @Override
    BigInteger fullAtMs(long nowMicros) {
        return resetAtMs(nowMicros);
    }

    @Override
    public void refund(long nowMicros, long cost, @Nullable Long resetAtMs) {
        if (state != null && !hasExpired(state, nowMicros)) {
            State at = at(nowMicros);
            state = new State(capacity.min(at.tokens.plus(cost)), at.at);
        }
    }
}
