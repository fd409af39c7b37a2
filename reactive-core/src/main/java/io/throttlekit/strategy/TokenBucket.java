package io.throttlekit.strategy;

import static io.throttlekit.strategy.Exact.big;

import io.throttlekit.Decision;
import io.throttlekit.Forecast;
import io.throttlekit.Program;
import io.throttlekit.StateCodec;
import io.throttlekit.Step;
import io.throttlekit.Strategy;
import io.throttlekit.Transform;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A bucket of {@code capacity} tokens, refilled continuously at {@code refillTokens} per
 * {@code refillPeriod}; a request takes {@code cost} of them or is denied.
 *
 * <p>The decision's limit is the capacity and the window is the time to fill an empty bucket, rounded up to
 * a microsecond. Source: the token bucket of Turner's "New directions in communications" (1986) with
 * continuous refill.
 */
public final class TokenBucket implements Strategy<TokenBucket.State> {
    /*
     * Tokens are counted in grains of 1/D token, where the rate is `grains` per microsecond and D the
     * denominator of refillTokens/refillPeriod in lowest terms: every refill is a whole number of grains.
     * The time moves to max(now, last), so a clock that steps back refills nothing twice.
     */
    private final long capacity;
    private final BigDecimal refillTokens;
    private final long refillMicros;
    private final long grainsPerMicro;
    private final long grainsPerToken;
    private final long full;
    private final Codec codec = new Codec();
    private final Check one;

    /**
     * Tokens at an instant.
     *
     * @param grains tokens in grains, at least 0
     * @param perToken grains per token, at least 1
     * @param lastMicros the instant, epoch microseconds
     */
    public record State(long grains, long perToken, long lastMicros) {
        /**
         * Checks the numbers.
         *
         * @throws IllegalArgumentException if one is out of range
         */
        public State {
            if (grains < 0 || perToken < 1) {
                throw new IllegalArgumentException(
                        "grains must be at least 0 and perToken at least 1, was " + grains + "/" + perToken);
            }
        }
    }

    private TokenBucket(long capacity, BigDecimal refillTokens, long refillMicros) {
        this.capacity = capacity;
        this.refillTokens = refillTokens;
        this.refillMicros = refillMicros;
        BigInteger[] rate = Exact.ratio(refillTokens, refillMicros);
        BigInteger fullGrains = rate[1].multiply(big(capacity));
        String what = "refillTokens " + refillTokens.toPlainString() + " per " + refillMicros + " us";
        if (rate[1].compareTo(big(Exact.MAX_DENOMINATOR)) > 0 || rate[0].bitLength() > 62) {
            throw new IllegalArgumentException(what + " cannot be kept exact: it is " + rate[0] + "/" + rate[1]
                    + " tokens per us, and the denominator must be at most " + Exact.MAX_DENOMINATOR);
        }
        if (fullGrains.bitLength() > 63) {
            throw new IllegalArgumentException(what + " with capacity " + capacity
                    + " cannot be kept exact: capacity times " + rate[1] + " must be below 2^63");
        }
        this.grainsPerMicro = rate[0].longValueExact();
        this.grainsPerToken = rate[1].longValueExact();
        this.full = fullGrains.longValueExact();
        if (Exact.ceilDiv(full, grainsPerMicro) > Exact.MAX_SPAN_MICROS) {
            throw new IllegalArgumentException(what + " takes more than 142 years to fill capacity " + capacity);
        }
        this.one = new Check(1, 1, false);
        Script.load("token_bucket");
    }

    /**
     * A bucket.
     *
     * @param capacity tokens when full, at least 1
     * @param refillTokens tokens per period, at least 1
     * @param refillPeriod whole microseconds, more than 0
     * @return the strategy
     * @throws IllegalArgumentException if a value is out of range or cannot be kept exact
     */
    public static TokenBucket of(long capacity, long refillTokens, Duration refillPeriod) {
        Exact.atLeastOne("refillTokens", refillTokens);
        return of(capacity, BigDecimal.valueOf(refillTokens), refillPeriod);
    }

    /**
     * A bucket whose refill is a decimal, taken exactly as it is written.
     *
     * @param capacity tokens when full, at least 1
     * @param refillTokens tokens per period, more than 0
     * @param refillPeriod whole microseconds, more than 0
     * @return the strategy
     * @throws IllegalArgumentException if a value is out of range or cannot be kept exact
     */
    public static TokenBucket of(long capacity, BigDecimal refillTokens, Duration refillPeriod) {
        return new TokenBucket(
                Exact.atLeastOne("capacity", capacity),
                Exact.positive("refillTokens", refillTokens),
                Exact.periodMicros("refillPeriod", refillPeriod));
    }

    /**
     * A bucket refilled at a rate per second, taken as the decimal it is written as.
     *
     * @param capacity tokens when full, at least 1
     * @param refillPerSecond tokens per second, more than 0
     * @return the strategy
     * @throws IllegalArgumentException if a value is out of range or cannot be kept exact
     */
    public static TokenBucket perSecond(long capacity, double refillPerSecond) {
        return of(capacity, Exact.asWritten("refillPerSecond", refillPerSecond), Duration.ofSeconds(1));
    }

    @Override
    public String name() {
        return "tokenBucket";
    }

    @Override
    public long limit() {
        return capacity;
    }

    @Override
    public Duration window() {
        return Duration.of(Exact.ceilDiv(full, grainsPerMicro), ChronoUnit.MICROS);
    }

    @Override
    public Transform<State, Decision> check(long min, long max) {
        if (min == 1 && max == 1) {
            return one;
        }
        Exact.range(min, max);
        return new Check(min, max, false);
    }

    @Override
    public Transform<State, Decision> peek() {
        return new Check(1, 1, true);
    }

    @Override
    public Transform<State, Forecast> forecast(long cost) {
        Exact.cost(cost);
        return new Look(cost);
    }

    @Override
    public Transform<State, Boolean> refund(long cost, @Nullable Decision charged) {
        Exact.cost(cost);
        return new Refund(cost);
    }

    @Override
    public String toString() {
        return "TokenBucket[capacity=" + capacity + ", refill=" + refillTokens.toPlainString() + " per " + refillMicros
                + " us]";
    }

    /** The bucket at max(now, last), refilled; full at now when there is no state. */
    private State at(@Nullable State state, long nowMicros) {
        if (state == null) {
            return new State(full, grainsPerToken, nowMicros);
        }
        long grains = state.perToken() == grainsPerToken ? state.grains() : rescale(state);
        if (nowMicros <= state.lastMicros()) {
            return new State(Math.min(full, grains), grainsPerToken, state.lastMicros());
        }
        long elapsed = nowMicros - state.lastMicros();
        boolean fills = elapsed < 0 || grains >= full || elapsed >= Exact.ceilDiv(full - grains, grainsPerMicro);
        return new State(fills ? full : grains + elapsed * grainsPerMicro, grainsPerToken, nowMicros);
    }

    /** A state written under another rate, in this one's grains, rounded down. */
    private long rescale(State state) {
        BigInteger grains = big(state.grains()).multiply(big(grainsPerToken)).divide(big(state.perToken()));
        return grains.min(big(full)).longValueExact();
    }

    private long whenFull(State at) {
        return Exact.upOfSum(at.lastMicros(), Exact.ceilDiv(full - at.grains(), grainsPerMicro));
    }

    private Decision decide(long granted, boolean peek, long min, long nowMicros, State at) {
        long remaining = at.grains() / grainsPerToken;
        long nowMs = Exact.up(nowMicros);
        if (granted > 0 || (peek && remaining >= min)) {
            return Decision.allowed(granted, capacity, remaining, whenFull(at), nowMs);
        }
        long micros;
        if (min <= capacity) {
            micros = Exact.ceilDiv(min * grainsPerToken - at.grains(), grainsPerMicro);
        } else {
            BigInteger missing = big(min).multiply(big(grainsPerToken)).subtract(big(at.grains()));
            micros = Exact.saturate(Exact.ceilDiv(missing, big(grainsPerMicro)));
        }
        long waitMs = Exact.upOfSum(Math.subtractExact(at.lastMicros(), nowMicros), micros);
        return Decision.denied(min, capacity, remaining, whenFull(at), waitMs, nowMs);
    }

    private Forecast forecast(long cost, long nowMicros, State at) {
        long tokens = at.grains() / grainsPerToken;
        long next = at.grains() >= full
                ? Exact.up(at.lastMicros())
                : Exact.upOfSum(
                        at.lastMicros(), Exact.ceilDiv(grainsPerToken - at.grains() % grainsPerToken, grainsPerMicro));
        return new Forecast(tokens / cost, next, whenFull(at), Exact.up(nowMicros));
    }

    /*
     * All operations: D, grains per microsecond, capacity, time to fill in microseconds, then min and max
     * of a check or the cost of a refund. Replies granted, now, at, whole tokens and grains of the bucket at
     * `at` after the step.
     */
    private <R> Program<R> script(String operation, long a, long b, Function<List<Long>, R> reader) {
        List<Long> args = List.of(grainsPerToken, grainsPerMicro, capacity, Exact.ceilDiv(full, grainsPerMicro), a, b);
        return Script.of("token_bucket", operation, args, reader);
    }

    private State ofReply(List<Long> reply) {
        return new State(reply.get(3) * grainsPerToken + reply.get(4), grainsPerToken, reply.get(2));
    }

    private abstract class Base<R> implements Transform<State, R> {
        @Override
        public StateCodec<State> codec() {
            return codec;
        }
    }

    private final class Check extends Base<Decision> {
        private final long min;
        private final long max;
        private final boolean peek;

        Check(long min, long max, boolean peek) {
            this.min = min;
            this.max = max;
            this.peek = peek;
        }

        @Override
        public Step<State> step(@Nullable State before, long nowMicros) {
            if (peek || min > capacity) {
                return new Step<>(before, 0);
            }
            State at = at(before, nowMicros);
            long units = Math.min(max, at.grains() / grainsPerToken);
            if (units < min) {
                return new Step<>(before, 0);
            }
            return new Step<>(new State(at.grains() - units * grainsPerToken, grainsPerToken, at.lastMicros()), units);
        }

        @Override
        public Decision read(Step<State> step, long nowMicros) {
            return decide(step.granted(), peek, min, nowMicros, at(step.state(), nowMicros));
        }

        @Override
        public Program<Decision> program() {
            boolean look = peek || min > capacity;
            return script(
                    look ? "look" : "check",
                    look ? 0 : min,
                    look ? 0 : Math.min(max, capacity),
                    reply -> decide(reply.get(0), peek, min, reply.get(1), ofReply(reply)));
        }
    }

    private final class Look extends Base<Forecast> {
        private final long cost;

        Look(long cost) {
            this.cost = cost;
        }

        @Override
        public Step<State> step(@Nullable State before, long nowMicros) {
            return new Step<>(before, 0);
        }

        @Override
        public Forecast read(Step<State> step, long nowMicros) {
            return forecast(cost, nowMicros, at(step.state(), nowMicros));
        }

        @Override
        public Program<Forecast> program() {
            return script("look", 0, 0, reply -> forecast(cost, reply.get(1), ofReply(reply)));
        }
    }

    private final class Refund extends Base<Boolean> {
        private final long cost;

        Refund(long cost) {
            this.cost = cost;
        }

        @Override
        public Step<State> step(@Nullable State before, long nowMicros) {
            if (before == null) {
                return new Step<>(null, 0);
            }
            State at = at(before, nowMicros);
            if (at.grains() >= full) {
                return new Step<>(before, 0);
            }
            boolean fills = cost >= capacity || full - at.grains() <= cost * grainsPerToken;
            long grains = fills ? full : at.grains() + cost * grainsPerToken;
            return new Step<>(new State(grains, grainsPerToken, at.lastMicros()), cost);
        }

        @Override
        public Boolean read(Step<State> step, long nowMicros) {
            return step.granted() > 0;
        }

        @Override
        public Program<Boolean> program() {
            return script("refund", Math.min(cost, capacity), 0, reply -> reply.get(0) > 0);
        }
    }

    private final class Codec implements StateCodec<State> {
        @Override
        public String kind() {
            return "tokenBucket";
        }

        @Override
        public byte[] encode(State state) {
            return Text.of(state.grains(), state.perToken(), state.lastMicros());
        }

        @Override
        public State decode(byte[] bytes) {
            long[] numbers = Text.numbers(bytes, 3);
            return new State(numbers[0], numbers[1], numbers[2]);
        }

        @Override
        public long expiresAt(State state) {
            long grains = state.perToken() == grainsPerToken ? state.grains() : rescale(state);
            return grains >= full
                    ? state.lastMicros()
                    : Math.addExact(state.lastMicros(), Exact.ceilDiv(full - grains, grainsPerMicro));
        }

        @Override
        public long remaining(State state, long nowMicros) {
            return at(state, nowMicros).grains() / grainsPerToken;
        }
    }
}
