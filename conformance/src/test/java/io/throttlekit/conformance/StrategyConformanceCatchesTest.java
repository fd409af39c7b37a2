package io.throttlekit.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.ExactMicros;
import io.throttlekit.Forecast;
import io.throttlekit.ScalarTransform;
import io.throttlekit.StateCodec;
import io.throttlekit.Step;
import io.throttlekit.Strategy;
import io.throttlekit.Strategy.Verdict;
import io.throttlekit.Transform;
import io.throttlekit.conformance.Launch.Outcome;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.WindowState;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each law of the strategy suite is broken by a strategy, and the suite says which one it was. */
class StrategyConformanceCatchesTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    @Test
    void passesAStrategyThatKeepsTheLaws() {
        Outcome outcome = Launch.of(Sound.class);

        assertThat(outcome).isEqualTo(new Outcome(Set.of(1, 2, 3, 4, 5, 6, 7, 8, 9), Set.of()));
    }

    @ParameterizedTest
    @CsvSource({
        "1, DecidesOtherwiseOnAStore",
        "2, CopiesWhenItDenies",
        "3, ReadsStatesThatDoNotCompare",
        "4, GrantsOnlyTheLeast",
        "5, PeekTakes",
        "5, ForecastsTooLate",
        "6, DeniesTheSecondTime",
        "7, RemembersExpiredStates",
        "8, WaitsTooLong",
        "8, WaitsTooShort",
        "9, GivesBackTooLittle"
    })
    void catchesAStrategyThat(int law, String name) throws ClassNotFoundException {
        Class<?> suite = Class.forName(StrategyConformanceCatchesTest.class.getName() + "$" + name);

        Outcome outcome = Launch.of(suite);

        assertThat(outcome.failed()).containsExactly(law);
    }

    /** The suite with one strategy. */
    abstract static class Suite extends StrategyConformance {
        abstract Strategy<?> strategy();

        @Override
        protected Stream<Strategy<?>> strategies() {
            return Stream.of(strategy());
        }
    }

    /** A strategy that leaves everything to another. */
    private static class Like<S> implements Strategy<S> {
        final Strategy<S> other;

        Like(Strategy<S> other) {
            this.other = other;
        }

        @Override
        public String name() {
            return other.name();
        }

        @Override
        public long limit() {
            return other.limit();
        }

        @Override
        public @Nullable Duration window() {
            return other.window();
        }

        @Override
        public Transform<S, Decision> check(long min, long max) {
            return other.check(min, max);
        }

        @Override
        public Transform<S, Decision> peek() {
            return other.peek();
        }

        @Override
        public Transform<S, Forecast> forecast(long cost) {
            return other.forecast(cost);
        }

        @Override
        public Transform<S, Boolean> refund(long cost, @Nullable Decision charged) {
            return other.refund(cost, charged);
        }
    }

    /** A transform that leaves everything to another. */
    private static class Doing<S, R> implements Transform<S, R> {
        final Transform<S, R> other;

        Doing(Transform<S, R> other) {
            this.other = other;
        }

        @Override
        public StateCodec<S> codec() {
            return other.codec();
        }

        @Override
        public Step<S> step(@Nullable S before, long nowMicros) {
            return other.step(before, nowMicros);
        }

        @Override
        public R read(Step<S> step, long nowMicros) {
            return other.read(step, nowMicros);
        }
    }

    private static Strategy<WindowState> window() {
        return FixedWindow.of(5, SECOND);
    }

    static class Sound extends Suite {
        @Override
        Strategy<?> strategy() {
            return new Like<>(window());
        }
    }

    static class DecidesOtherwiseOnAStore extends Suite {
        @Override
        Strategy<?> strategy() {
            return new Like<>(Gcra.of(5, SECOND)) {
                @Override
                public Transform<ExactMicros, Decision> check(long min, long max) {
                    return new Late((ScalarTransform<ExactMicros, Decision>) super.check(min, max));
                }
            };
        }

        /** In its compact form it charges a tick too much. */
        private static final class Late extends ScalarTransform<ExactMicros, Decision> {
            private final ScalarTransform<ExactMicros, Decision> scalar;

            Late(ScalarTransform<ExactMicros, Decision> scalar) {
                super(scalar.codec(), scalar.ticksPerMicro());
                this.scalar = scalar;
            }

            @Override
            public Step<ExactMicros> step(@Nullable ExactMicros before, long nowMicros) {
                return scalar.step(before, nowMicros);
            }

            @Override
            public Decision read(Step<ExactMicros> step, long nowMicros) {
                return scalar.read(step, nowMicros);
            }

            @Override
            public long next(long before, long now, long nowMicros) {
                long after = scalar.next(before, now, nowMicros);
                return after == before ? before : after + 1;
            }

            @Override
            public Decision readTicks(long before, long after, long now, long nowMicros) {
                return scalar.readTicks(before, after, now, nowMicros);
            }

            @Override
            public ExactMicros fromTicks(long ticks, long originMicros) {
                return scalar.fromTicks(ticks, originMicros);
            }

            @Override
            public long remainingTicks(long ticks, long now) {
                return scalar.remainingTicks(ticks, now);
            }
        }
    }

    static class CopiesWhenItDenies extends Suite {
        @Override
        Strategy<?> strategy() {
            return new Like<>(window()) {
                @Override
                public Transform<WindowState, Decision> check(long min, long max) {
                    return new Doing<>(super.check(min, max)) {
                        @Override
                        public Step<WindowState> step(@Nullable WindowState before, long nowMicros) {
                            Step<WindowState> step = super.step(before, nowMicros);
                            return step.granted() > 0 || before == null ? step : new Step<>(copy(before), 0);
                        }
                    };
                }
            };
        }

        private static WindowState copy(WindowState state) {
            return new WindowState(state.startMs(), state.resetMs(), state.count());
        }
    }

    static class ReadsStatesThatDoNotCompare extends Suite {
        /** Deliberately without equals. */
        private static final class Count {
            final long micros;
            final long units;

            Count(long micros, long units) {
                this.micros = micros;
                this.units = units;
            }

            @Nullable
            static LastHit hitOrNull(@Nullable Count count) {
                return count == null ? null : new LastHit(count.micros, count.units);
            }

            static Count of(LastHit hit) {
                return new Count(hit.startMicros(), hit.count());
            }

            LastHit hit() {
                return new LastHit(micros, units);
            }
        }

        @Override
        Strategy<?> strategy() {
            StateCodec<LastHit> codec = LastHit.codec(5);
            StateCodec<Count> plain = new StateCodec<>() {
                @Override
                public String kind() {
                    return codec.kind();
                }

                @Override
                public byte[] encode(Count state) {
                    return codec.encode(state.hit());
                }

                @Override
                public Count decode(byte[] bytes) {
                    return Count.of(codec.decode(bytes));
                }

                @Override
                public long expiresAt(Count state) {
                    return codec.expiresAt(state.hit());
                }

                @Override
                public long remaining(Count state, long nowMicros) {
                    return codec.remaining(state.hit(), nowMicros);
                }
            };
            return Strategy.of("count", 5, plain, (state, now, cost) -> {
                Verdict<LastHit> verdict = LastHit.decide(5, Count.hitOrNull(state), now, cost);
                LastHit next = verdict.state();
                return next == null ? Verdict.deny(verdict.retryAtMicros()) : Verdict.allow(Count.of(next));
            });
        }
    }

    static class GrantsOnlyTheLeast extends Suite {
        @Override
        Strategy<?> strategy() {
            return new Like<>(window()) {
                @Override
                public Transform<WindowState, Decision> check(long min, long max) {
                    return super.check(min, min);
                }
            };
        }
    }

    static class PeekTakes extends Suite {
        @Override
        Strategy<?> strategy() {
            return new Like<>(window()) {
                @Override
                public Transform<WindowState, Decision> peek() {
                    Transform<WindowState, Decision> one = super.check(1, 1);
                    return new Doing<>(super.peek()) {
                        @Override
                        public Step<WindowState> step(@Nullable WindowState before, long nowMicros) {
                            return new Step<>(one.step(before, nowMicros).state(), 0);
                        }
                    };
                }
            };
        }
    }

    static class ForecastsTooLate extends Suite {
        @Override
        Strategy<?> strategy() {
            return new Like<>(window()) {
                @Override
                public Transform<WindowState, Forecast> forecast(long cost) {
                    return new Doing<>(super.forecast(cost)) {
                        @Override
                        public Forecast read(Step<WindowState> step, long nowMicros) {
                            Forecast f = super.read(step, nowMicros);
                            return new Forecast(
                                    f.spendableNow(), f.nextReplenishAtMs() + 1, f.fullAtMs(), f.decidedAtMs());
                        }
                    };
                }
            };
        }
    }

    static class DeniesTheSecondTime extends Suite {
        @Override
        Strategy<?> strategy() {
            return new Like<>(window()) {
                @Override
                public Transform<WindowState, Decision> check(long min, long max) {
                    return new Doing<>(super.check(min, max)) {
                        private boolean used;

                        @Override
                        public Step<WindowState> step(@Nullable WindowState before, long nowMicros) {
                            boolean again = used;
                            used = true;
                            return again ? new Step<>(before, 0) : super.step(before, nowMicros);
                        }
                    };
                }
            };
        }
    }

    static class RemembersExpiredStates extends Suite {
        @Override
        Strategy<?> strategy() {
            return Strategy.of(
                    "lastHit",
                    5,
                    LastHit.codec(5),
                    (state, now, cost) -> state != null && now >= state.startMicros() + LastHit.SECOND
                            ? Verdict.deny(now + LastHit.SECOND)
                            : LastHit.decide(5, state, now, cost));
        }
    }

    /** Changes the wait of a denial by some milliseconds. */
    private static Strategy<LastHit> waiting(long moreMicros) {
        return Strategy.of("lastHit", 5, LastHit.codec(5), (state, now, cost) -> {
            Verdict<LastHit> verdict = LastHit.decide(5, state, now, cost);
            return verdict.allowed() ? verdict : Verdict.deny(verdict.retryAtMicros() + moreMicros);
        });
    }

    static class WaitsTooLong extends Suite {
        @Override
        Strategy<?> strategy() {
            return waiting(1_000);
        }
    }

    static class WaitsTooShort extends Suite {
        @Override
        Strategy<?> strategy() {
            return waiting(-1_000);
        }
    }

    static class GivesBackTooLittle extends Suite {
        @Override
        Strategy<?> strategy() {
            return new Like<>(window()) {
                @Override
                public Transform<WindowState, Boolean> refund(long cost, @Nullable Decision charged) {
                    return super.refund(Math.max(1, cost - 1), charged);
                }
            };
        }
    }
}
