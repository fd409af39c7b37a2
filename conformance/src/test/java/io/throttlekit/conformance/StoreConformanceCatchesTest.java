package io.throttlekit.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Clock;
import io.throttlekit.ManualClock;
import io.throttlekit.StateCodec;
import io.throttlekit.Step;
import io.throttlekit.Store;
import io.throttlekit.Transform;
import io.throttlekit.conformance.Launch.Outcome;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;

/** Each rule of the store suite is broken by a store, and the suite says which one it was. */
class StoreConformanceCatchesTest {
    private static final int RULES = 17;

    /** The suite over stores that share a backend. */
    abstract static class Suite extends StoreConformance {
        private final ManualClock clock = ManualClock.at(1_700_000_000_000_000L);
        private final ByteStore.Backend backend = new ByteStore.Backend();

        abstract Store store(ByteStore.Backend backend, Clock clock);

        @Override
        protected Store open() {
            return store(backend, clock);
        }

        @Override
        protected Store openBeside(Store first) {
            return store(backend, clock);
        }

        @Override
        protected ManualClock clock() {
            return clock;
        }

        @Override
        protected Duration deadline() {
            return Duration.ofSeconds(1);
        }
    }

    /** Says which rules the suite must find broken. */
    @Retention(RetentionPolicy.RUNTIME)
    @interface Breaks {
        int[] value();
    }

    @Test
    void passesAStoreThatKeepsTheRules() {
        Outcome outcome = Launch.of(Sound.class);

        assertThat(outcome.failed()).isEmpty();
        assertThat(outcome.rules()).containsExactlyElementsOf(allRules());
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                ForgetsNothing.class,
                IgnoresCase.class,
                ResetsNothing.class,
                ExpiresEarly.class,
                ExpiresLate.class,
                LocksNothing.class,
                LocksItselfOnly.class,
                WritesDenials.class,
                ForgetsOnError.class,
                WrapsErrors.class,
                WritesBeforeItReads.class,
                AppliesOnce.class,
                HoldsOnCancel.class,
                KeepsKeysAsUtf8.class,
                TrimsKeys.class,
                StaysOpen.class,
                OverwritesOtherKinds.class,
                ChecksNullLate.class,
                SignalsUnasked.class,
                CompletesTwice.class,
                KeepsBytesAsText.class
            })
    void catchesAStoreThat(Class<?> suite) {
        Breaks breaks = suite.getAnnotation(Breaks.class);

        Outcome outcome = Launch.of(suite);

        assertThat(outcome.failed())
                .containsExactlyElementsOf(IntStream.of(breaks.value()).boxed().toList());
    }

    @Test
    void hasABrokenStoreForEveryRule() {
        Set<Integer> broken = Arrays.stream(StoreConformanceCatchesTest.class.getDeclaredClasses())
                .map(suite -> suite.getAnnotation(Breaks.class))
                .filter(Objects::nonNull)
                .flatMap(breaks -> IntStream.of(breaks.value()).boxed())
                .collect(Collectors.toSet());

        assertThat(broken).containsExactlyInAnyOrderElementsOf(allRules());
    }

    private static Set<Integer> allRules() {
        return IntStream.rangeClosed(1, RULES).boxed().collect(Collectors.toCollection(TreeSet::new));
    }

    static class Sound extends Suite {
        @Override
        Store store(ByteStore.Backend backend, Clock clock) {
            return new ByteStore(backend, clock);
        }
    }

    @Breaks(1)
    static class ForgetsNothing extends Suite {
        @Override
        Store store(ByteStore.Backend backend, Clock clock) {
            return new ByteStore(backend, clock) {
                @Override
                void forget(String name) {}
            };
        }
    }

    @Breaks(2)
    static class IgnoresCase extends Suite {
        @Override
        Store store(ByteStore.Backend backend, Clock clock) {
            return new ByteStore(backend, clock) {
                @Override
                String nameOf(String key) {
                    // Only where the other rules do not look.
                    return key.endsWith("/A") ? key.toLowerCase(Locale.ROOT) : key;
                }
            };
        }
    }

    @Breaks(3)
    static class ResetsNothing extends Suite {
        @Override
        Store store(ByteStore.Backend backend, Clock clock) {
            return new ByteStore(backend, clock) {
                @Override
                void resetNow(String key) {
                    requireOpen();
                    boolean tried = key.endsWith("/reset");
                    if (!tried) {
                        super.resetNow(key);
                    }
                }
            };
        }
    }

    @Breaks(4)
    static class ExpiresEarly extends Suite {
        @Override
        Store store(ByteStore.Backend backend, Clock clock) {
            return new ByteStore(backend, clock) {
                @Override
                boolean hasExpired(Kept kept, long nowMicros) {
                    return kept.expiresAt - 1 <= nowMicros;
                }
            };
        }
    }

    @Breaks(4)
    static class ExpiresLate extends Suite {
        @Override
        Store store(ByteStore.Backend backend, Clock clock) {
            return new ByteStore(backend, clock) {
                @Override
                boolean hasExpired(Kept kept, long nowMicros) {
                    return kept.expiresAt < nowMicros;
                }
            };
        }
    }

    /** Whoever does not lock at all breaks both rules about concurrency. */
    @Breaks({5, 6})
    static class LocksNothing extends Suite {
        @Override
        Store store(ByteStore.Backend backend, Clock clock) {
            return new UnlockedStore(backend, clock);
        }
    }

    @Breaks(6)
    static class LocksItselfOnly extends Suite {
        @Override
        Store store(ByteStore.Backend backend, Clock clock) {
            return new UnlockedStore(backend, clock) {
                @Override
                Object lock() {
                    return this;
                }
            };
        }
    }

    /** Gives every other thread time to come in between. */
    private static class UnlockedStore extends ByteStore {
        private static final long PAUSE_NANOS = 100_000;

        UnlockedStore(Backend backend, Clock clock) {
            super(backend, clock);
        }

        @Override
        Object lock() {
            return new Object();
        }

        @Override
        void pause() {
            long start = System.nanoTime();
            while (System.nanoTime() - start < PAUSE_NANOS) {
                // Not even a hint that this spins: BlockHound counts it as blocking.
            }
        }

        // The map alone must stay whole.

        @Override
        <S> @Nullable S load(String name, StateCodec<S> codec, long nowMicros) {
            synchronized (backend) {
                return super.load(name, codec, nowMicros);
            }
        }

        @Override
        <S> void save(String name, StateCodec<S> codec, @Nullable S state) {
            synchronized (backend) {
                super.save(name, codec, state);
            }
        }
    }

    @Breaks(7)
    static class WritesDenials extends Suite {
        @Override
        Store store(ByteStore.Backend backend, Clock clock) {
            return new ByteStore(backend, clock) {
                @Override
                <S> boolean isChange(@Nullable S before, Step<S> step) {
                    return true;
                }
            };
        }
    }

    @Breaks(8)
    static class ForgetsOnError extends Suite {
        @Override
        Store store(ByteStore.Backend backend, Clock clock) {
            return new ByteStore(backend, clock) {
                @Override
                <S, R> R applyAlone(String name, Transform<S, R> transform, long nowMicros) {
                    try {
                        return super.applyAlone(name, transform, nowMicros);
                    } catch (IllegalStateException e) {
                        if (String.valueOf(e.getMessage()).startsWith("step")) {
                            forget(name);
                        }
                        throw e;
                    }
                }
            };
        }
    }

    @Breaks({8, 9})
    static class WrapsErrors extends Suite {
        @Override
        Store store(ByteStore.Backend backend, Clock clock) {
            return new ByteStore(backend, clock) {
                @Override
                <S, R> R applyAlone(String name, Transform<S, R> transform, long nowMicros) {
                    try {
                        return super.applyAlone(name, transform, nowMicros);
                    } catch (IllegalStateException e) {
                        throw new IllegalArgumentException("the transform failed", e);
                    }
                }
            };
        }
    }

    @Breaks(9)
    static class WritesBeforeItReads extends Suite {
        @Override
        Store store(ByteStore.Backend backend, Clock clock) {
            return new ByteStore(backend, clock) {
                @Override
                <S, R> R applyAlone(String name, Transform<S, R> transform, long nowMicros) {
                    S before = load(name, transform.codec(), nowMicros);
                    Step<S> step = transform.step(before, nowMicros);
                    if (isChange(before, step)) {
                        save(name, transform.codec(), step.state());
                    }
                    return transform.read(step, nowMicros);
                }
            };
        }
    }

    @Breaks(10)
    static class AppliesOnce extends Suite {
        @Override
        Store store(ByteStore.Backend backend, Clock clock) {
            return new ByteStore(backend, clock) {
                @Override
                public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
                    return super.apply(key, transform).cache();
                }
            };
        }
    }

    @Breaks(11)
    static class HoldsOnCancel extends Suite {
        @Override
        Store store(ByteStore.Backend backend, Clock clock) {
            return new ByteStore(backend, clock) {
                private final Semaphore calls = new Semaphore(400);

                @Override
                public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
                    Mono<R> call = super.apply(key, transform);
                    return Mono.defer(() -> calls.tryAcquire() ? call.doOnTerminate(calls::release) : Mono.never());
                }
            };
        }
    }

    @Breaks(12)
    static class KeepsKeysAsUtf8 extends Suite {
        @Override
        Store store(ByteStore.Backend backend, Clock clock) {
            return new ByteStore(backend, clock) {
                @Override
                String nameOf(String key) {
                    return new String(key.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
                }
            };
        }
    }

    @Breaks(12)
    static class TrimsKeys extends Suite {
        @Override
        Store store(ByteStore.Backend backend, Clock clock) {
            return new ByteStore(backend, clock) {
                @Override
                String nameOf(String key) {
                    return key.strip();
                }
            };
        }
    }

    @Breaks(13)
    static class StaysOpen extends Suite {
        @Override
        Store store(ByteStore.Backend backend, Clock clock) {
            return new ByteStore(backend, clock) {
                @Override
                void closeNow() {}
            };
        }
    }

    @Breaks(14)
    static class OverwritesOtherKinds extends Suite {
        @Override
        Store store(ByteStore.Backend backend, Clock clock) {
            return new ByteStore(backend, clock) {
                @Override
                void meetOther(Kept kept) {}
            };
        }
    }

    @Breaks(15)
    static class ChecksNullLate extends Suite {
        @Override
        Store store(ByteStore.Backend backend, Clock clock) {
            return new ByteStore(backend, clock) {
                @Override
                public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
                    return Mono.defer(() -> super.apply(key, transform));
                }
            };
        }
    }

    @Breaks(16)
    static class SignalsUnasked extends Suite {
        @Override
        Store store(ByteStore.Backend backend, Clock clock) {
            return new ByteStore(backend, clock) {
                @Override
                public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
                    Mono<R> call = super.apply(key, transform);
                    return new Mono<>() {
                        @Override
                        public void subscribe(CoreSubscriber<? super R> actual) {
                            call.subscribe(new Relay<>(actual) {
                                @Override
                                public void onSubscribe(Subscription s) {
                                    actual.onSubscribe(s);
                                    s.request(1);
                                }
                            });
                        }
                    };
                }
            };
        }
    }

    @Breaks(16)
    static class CompletesTwice extends Suite {
        @Override
        Store store(ByteStore.Backend backend, Clock clock) {
            return new ByteStore(backend, clock) {
                @Override
                public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
                    Mono<R> call = super.apply(key, transform);
                    return new Mono<>() {
                        @Override
                        public void subscribe(CoreSubscriber<? super R> actual) {
                            call.subscribe(new Relay<>(actual) {
                                @Override
                                public void onComplete() {
                                    super.onComplete();
                                    // Elsewhere StepVerifier would notice as well.
                                    if (key.endsWith("/signals")) {
                                        super.onComplete();
                                    }
                                }
                            });
                        }
                    };
                }
            };
        }
    }

    @Breaks(17)
    static class KeepsBytesAsText extends Suite {
        @Override
        Store store(ByteStore.Backend backend, Clock clock) {
            return new ByteStore(backend, clock) {
                @Override
                <S> byte[] bytesOf(StateCodec<S> codec, S state) {
                    byte[] bytes = codec.encode(state);
                    return new String(bytes, StandardCharsets.UTF_8).getBytes(StandardCharsets.UTF_8);
                }
            };
        }
    }

    /** Hands every signal on. */
    private static class Relay<R> implements CoreSubscriber<R> {
        private final CoreSubscriber<? super R> actual;

        Relay(CoreSubscriber<? super R> actual) {
            this.actual = actual;
        }

        @Override
        public void onSubscribe(Subscription s) {
            actual.onSubscribe(s);
        }

        @Override
        public void onNext(R value) {
            actual.onNext(value);
        }

        @Override
        public void onError(Throwable error) {
            actual.onError(error);
        }

        @Override
        public void onComplete() {
            actual.onComplete();
        }
    }
}
