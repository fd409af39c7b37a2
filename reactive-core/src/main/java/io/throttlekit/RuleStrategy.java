package io.throttlekit;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The strategy made of a user's rule: everything but the rule itself is derived. */
final class RuleStrategy<S> implements Strategy<S> {
    private final String name;
    private final long limit;
    private final StateCodec<S> codec;
    private final Rule<S> rule;

    RuleStrategy(String name, long limit, StateCodec<S> codec, Rule<S> rule) {
        if (!name.matches("[A-Za-z][A-Za-z0-9]*")) {
            throw new IllegalArgumentException("name must match [A-Za-z][A-Za-z0-9]*, was \"" + name + "\"");
        }
        if (limit < 1 || limit > MAX_COST) {
            throw new IllegalArgumentException("limit must be from 1 to " + MAX_COST + ", was " + limit);
        }
        this.name = name;
        this.limit = limit;
        this.codec = Objects.requireNonNull(codec, "codec");
        this.rule = Objects.requireNonNull(rule, "rule");
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public long limit() {
        return limit;
    }

    @Override
    public @Nullable Duration window() {
        return null;
    }

    @Override
    public Transform<S, Decision> check(long min, long max) {
        return new Check(min, max, false);
    }

    @Override
    public Transform<S, Decision> peek() {
        return new Check(1, 1, true);
    }

    @Override
    public Transform<S, Forecast> forecast(long cost) {
        throw new UnsupportedOperationException("strategy " + name + " does not forecast");
    }

    @Override
    public Transform<S, Boolean> refund(long cost, @Nullable Decision charged) {
        throw new UnsupportedOperationException("strategy " + name + " does not refund");
    }

    private final class Check implements Transform<S, Decision> {
        private final long min;
        private final long max;
        private final boolean peek;

        Check(long min, long max, boolean peek) {
            this.min = min;
            this.max = max;
            this.peek = peek;
        }

        @Override
        public StateCodec<S> codec() {
            return codec;
        }

        @Override
        public Step<S> step(@Nullable S before, long nowMicros) {
            if (peek || min > limit) {
                return new Step<>(before, 0);
            }
            Verdict<S> verdict = rule.decide(before, nowMicros, min);
            if (!verdict.allowed()) {
                return new Step<>(before, 0);
            }
            long granted = min;
            long tooMuch = Math.min(max, limit) + 1;
            while (tooMuch - granted > 1) {
                long middle = granted + (tooMuch - granted) / 2;
                Verdict<S> more = rule.decide(before, nowMicros, middle);
                if (more.allowed()) {
                    granted = middle;
                    verdict = more;
                } else {
                    tooMuch = middle;
                }
            }
            return new Step<>(verdict.state(), granted);
        }

        @Override
        public Decision read(Step<S> step, long nowMicros) {
            S state = step.state();
            long nowMs = ceilMs(nowMicros);
            long remaining = state == null ? limit : codec.remaining(state, nowMicros);
            long resetAtMs = state == null ? nowMs : Math.max(nowMs, ceilMs(codec.expiresAt(state)));
            if (step.granted() > 0) {
                return Decision.allowed(step.granted(), limit, remaining, resetAtMs, nowMs);
            }
            Verdict<S> verdict = rule.decide(state, nowMicros, min);
            if (verdict.allowed() && min <= limit) {
                return Decision.allowed(0, limit, remaining, resetAtMs, nowMs);
            }
            long waitMicros = Math.max(1, verdict.retryAtMicros() - nowMicros);
            return Decision.denied(min, limit, remaining, resetAtMs, ceilMs(waitMicros), nowMs);
        }

        private static long ceilMs(long micros) {
            return Math.min(MAX_COST, -Math.floorDiv(-micros, 1000L));
        }
    }
}
