package io.throttlekit.limiter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.Clock;
import io.throttlekit.Decision;
import io.throttlekit.ManualClock;
import io.throttlekit.RateLimitExceededException;
import io.throttlekit.StateMismatchException;
import io.throttlekit.Store;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.SynchronousAccessException;
import io.throttlekit.Transform;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.TokenBucket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class LimiterTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private final ManualClock clock = ManualClock.at(1_759_996_572_738_000L);

    private Limiter twoPerSecond() {
        return Limiter.builder(Gcra.of(2, SECOND)).clock(clock).build();
    }

    private static <T> T get(Mono<T> mono) {
        return Objects.requireNonNull(mono.block(SECOND));
    }

    /** A store that is not in this process, as far as a limiter can tell. */
    private static Store remote(Store store) {
        return new Store() {
            @Override
            public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
                return key.startsWith("down")
                        ? Mono.error(new StoreUnavailableException(Reason.DISCONNECTED, false, "no connection", null))
                        : store.apply(key, transform);
            }

            @Override
            public Mono<Void> reset(String key) {
                return store.reset(key);
            }

            @Override
            public Mono<Void> close() {
                return store.close();
            }
        };
    }

    @Test
    void assemblingChargesNothingAndEachSubscriptionChargesOnce() {
        Limiter limiter = twoPerSecond();

        Mono<Decision> check = limiter.check("k");

        assertThat(limiter.peekSync("k").remaining()).isEqualTo(2);
        assertThat(get(check).remaining()).isEqualTo(1);
        assertThat(get(check).remaining()).isEqualTo(0);
        assertThat(get(check).allowed()).isFalse();
    }

    @Test
    void aSubscriberThatCancelsBeforeItRequestsIsNotCharged() {
        Limiter limiter = twoPerSecond();

        StepVerifier.create(limiter.check("k"), 0).thenCancel().verify();

        assertThat(limiter.peekSync("k").remaining()).isEqualTo(2);
    }

    @Test
    void aCheckInMemoryIsCallableSoThatOperatorsFuse() throws Exception {
        Limiter limiter = twoPerSecond();

        Mono<Decision> check = limiter.check("k");

        assertThat(check).isInstanceOf(Callable.class);
        assertThat(((Callable<?>) check).call()).isEqualTo(limiter.peekSync("k").allowed() ? oneLeft() : null);
    }

    private Decision oneLeft() {
        long nowMs = clock.epochMicros() / 1000;
        return Decision.allowed(1, 2, 1, nowMs + 500, nowMs);
    }

    @Test
    void keepsPrefixesApartOverOneStore() {
        MemoryStore store = MemoryStore.builder().clock(clock).build();
        Limiter login =
                Limiter.builder(Gcra.of(1, SECOND)).store(store).prefix("login").build();
        Limiter search = Limiter.builder(Gcra.of(1, SECOND))
                .store(store)
                .prefix("search")
                .build();

        login.checkSync("k");

        assertThat(login.checkSync("k").allowed()).isFalse();
        assertThat(search.checkSync("k").allowed()).isTrue();
    }

    @Test
    void checksManyKeysAtOneTimeInTheirOrder() {
        Limiter limiter = twoPerSecond();
        limiter.checkSync("b", 2);

        List<Checked> results = get(limiter.checkMany(List.of("c", "b", "a")));

        assertThat(results).extracting(Checked::key).containsExactly("c", "b", "a");
        assertThat(results).extracting(Checked::allowed).containsExactly(true, false, true);
        assertThat(limiter.checkManySync(List.of("c", "b", "a")))
                .extracting(Checked::allowed)
                .containsExactly(true, false, true);
    }

    @Test
    void oneKeysErrorDoesNotTouchTheOthers() {
        Limiter limiter = Limiter.builder(Gcra.of(2, SECOND))
                .store(remote(MemoryStore.create()))
                .build();

        List<Checked> results = get(limiter.checkMany(List.of("a", "down", "b")));

        assertThat(results).extracting(Checked::allowed).containsExactly(true, false, true);
        assertThat(results.get(1).error()).isInstanceOf(StoreUnavailableException.class);
        assertThat(get(limiter.checkMany(List.of()))).isEmpty();
    }

    @Test
    void refusesBadArgumentsBeforeAnythingIsTouched() {
        Limiter limiter = twoPerSecond();

        for (long cost : new long[] {0, -1, Long.MIN_VALUE, 1L << 53, Long.MAX_VALUE}) {
            assertThatThrownBy(() -> limiter.check("k", cost))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("was " + cost);
            assertThatThrownBy(() -> limiter.refund("k", cost, null)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> limiter.forecast("k", cost)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> limiter.checkUpTo("k", 3, 2)).hasMessageContaining("[3, 2]");
        assertThatThrownBy(() -> limiter.checkMany(List.of("a", "a"))).isInstanceOf(IllegalArgumentException.class);
        List<String> tooMany =
                IntStream.range(0, 1_001).mapToObj(Integer::toString).toList();
        assertThatThrownBy(() -> limiter.checkMany(tooMany)).hasMessageContaining("1001");
        assertThat(limiter.peekSync("k").remaining()).isEqualTo(2);
    }

    @Test
    void grantsTheLargestCostOfARange() {
        Limiter limiter = Limiter.builder(Gcra.of(10, SECOND)).clock(clock).build();
        limiter.checkSync("k", 7);

        assertThat(get(limiter.checkUpTo("k", 1, 50)).granted()).isEqualTo(3);
        assertThat(limiter.checkUpToSync("k", 1, 50).allowed()).isFalse();
    }

    @Test
    void givesBackOnlyWithinTheWindowThatWasCharged() {
        Limiter limiter =
                Limiter.builder(FixedWindow.of(3, SECOND)).clock(clock).build();
        Decision charged = limiter.checkSync("k", 2);

        assertThat(get(limiter.refund("k", 1, charged))).isTrue();
        assertThat(limiter.peekSync("k").remaining()).isEqualTo(2);

        clock.advance(SECOND);
        limiter.checkSync("k", 2);

        assertThat(limiter.refundSync("k", 1, charged)).isFalse();
        assertThat(limiter.peekSync("k").remaining()).isEqualTo(1);
    }

    @Test
    void synchronousCallsNeedAStoreInThisProcess() {
        Limiter limiter = Limiter.builder(Gcra.of(2, SECOND))
                .store(remote(MemoryStore.create()))
                .build();

        assertThatThrownBy(() -> limiter.checkSync("k"))
                .isInstanceOf(SynchronousAccessException.class)
                .hasMessageContaining("needs a store in this process");
        assertThatThrownBy(() -> limiter.resetSync("k")).isInstanceOf(SynchronousAccessException.class);
    }

    @Test
    void closesTheStoreItMadeAndNoOther() {
        Limiter owner = twoPerSecond();
        MemoryStore given = MemoryStore.create();
        Limiter guest = Limiter.builder(Gcra.of(2, SECOND)).store(given).build();

        owner.close().block();
        guest.close().block();

        StepVerifier.create(owner.check("k"))
                .expectErrorSatisfies(error ->
                        assertThat(((StoreUnavailableException) error).reason()).isEqualTo(Reason.CLOSED))
                .verify();
        assertThat(guest.checkSync("k").allowed()).isTrue();
    }

    @Test
    void aStoreThatIsGivenBringsItsOwnClock() {
        Limiter.Builder builder =
                Limiter.builder(Gcra.of(2, SECOND)).store(MemoryStore.create()).clock(Clock.system());

        assertThatThrownBy(builder::build).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> builder.prefix("a:b")).hasMessageContaining("a:b");
        assertThatThrownBy(() -> builder.prefix("")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void guardSubscribesOnlyWhenTheCheckAllows() {
        Limiter limiter = Limiter.builder(Gcra.of(1, SECOND)).clock(clock).build();
        int[] subscriptions = {0};
        Mono<String> call = Mono.fromCallable(() -> {
            subscriptions[0]++;
            return "done";
        });

        Mono<String> guarded = call.transform(limiter.guard("k"));

        StepVerifier.create(guarded).expectNext("done").verifyComplete();
        StepVerifier.create(guarded)
                .expectErrorSatisfies(error -> assertThat(
                                ((RateLimitExceededException) error).decision().retryAfterMs())
                        .isEqualTo(1000))
                .verify();
        assertThat(subscriptions[0]).isEqualTo(1);
    }

    @Test
    void guardPassesDemandAndCancelToAFlux() {
        Limiter limiter = twoPerSecond();

        Flux<Integer> guarded = Flux.range(0, 100).transform(limiter.guard("k", 2));

        StepVerifier.create(guarded, 3).expectNext(0, 1, 2).thenCancel().verify();
        StepVerifier.create(guarded)
                .expectError(RateLimitExceededException.class)
                .verify();
    }

    @Test
    void dropsWhatExceedsTheLimitAndKeepsTheOrder() {
        Limiter limiter =
                Limiter.builder(TokenBucket.of(3, 1, SECOND)).clock(clock).build();

        Flux<String> source = Flux.just("a1", "b1", "a2", "a3", "a4", "b2", "a5");

        StepVerifier.create(source.transform(limiter.dropExcess(e -> e.substring(0, 1))))
                .expectNext("a1", "b1", "a2", "a3", "b2")
                .verifyComplete();
    }

    @Test
    void failsAtTheFirstElementThatExceedsTheLimit() {
        Limiter limiter =
                Limiter.builder(TokenBucket.of(3, 1, SECOND)).clock(clock).build();

        Flux<Integer> source = Flux.just(1, 2, 3).transform(limiter.failOnExcess(e -> "k", e -> e));

        StepVerifier.create(source)
                .expectNext(1, 2)
                .expectError(RateLimitExceededException.class)
                .verify();
    }

    @Test
    void failsAtTheFirstElementBeyondOneUnitEach() {
        Limiter limiter = twoPerSecond();

        StepVerifier.create(Flux.just("a", "b", "a", "a").transform(limiter.failOnExcess(e -> e)))
                .expectNext("a", "b", "a")
                .expectError(RateLimitExceededException.class)
                .verify();
    }

    @Test
    void dropsByTheCostOfEachElement() {
        Limiter limiter = Limiter.builder(Gcra.of(5, SECOND)).clock(clock).build();

        StepVerifier.create(Flux.just(3L, 3L, 2L, 1L).transform(limiter.dropExcess(e -> "k", e -> e)))
                .expectNext(3L, 2L)
                .verifyComplete();
    }

    @Test
    void callsThatEndInSyncDoWhatTheirMonosDo() {
        Limiter limiter =
                Limiter.builder(FixedWindow.of(10, SECOND)).clock(clock).build();

        assertThat(limiter.checkSync("k", 4).granted()).isEqualTo(4);
        assertThat(limiter.checkUpToSync("k", 2, 3).granted()).isEqualTo(3);
        assertThat(limiter.checkManySync(List.of("k", "other"), 2))
                .extracting(
                        checked -> Objects.requireNonNull(checked.decision()).remaining())
                .containsExactly(1L, 8L);
        assertThat(limiter.peekSync("k")).isEqualTo(get(limiter.peek("k"))).matches(d -> d.remaining() == 1);
        assertThat(limiter.forecastSync("k", 1))
                .isEqualTo(get(limiter.forecast("k")))
                .matches(f -> f.spendableNow() == 1);
        assertThat(limiter.refundSync("k", 5, null)).isTrue();
        assertThat(limiter.peekSync("k").remaining()).isEqualTo(6);
        limiter.resetSync("k");
        assertThat(limiter.peekSync("k").remaining()).isEqualTo(10);
        assertThat(limiter.refundSync("k", 1, null)).isFalse();
    }

    @Test
    void needsNothingButAStrategy() {
        Gcra strategy = Gcra.of(2, SECOND);

        Limiter limiter = Limiter.of(strategy);

        assertThat(limiter.strategy()).isSameAs(strategy);
        assertThat(limiter.checkSync("k").allowed()).isTrue();
    }

    @Test
    void asksTheStoreForItsPrefixedKeyWhateverTheCall() {
        Gcra strategy = Gcra.of(10, SECOND);
        MemoryStore store = MemoryStore.builder().clock(clock).build();
        Limiter limiter = Limiter.builder(strategy).store(store).prefix("login").build();
        store.applySync("login:k", strategy.check(4, 4));

        assertThat(get(limiter.peek("k")).remaining()).isEqualTo(6);
        assertThat(get(limiter.forecast("k")).spendableNow()).isEqualTo(6);
        assertThat(get(limiter.checkUpTo("k", 1, 2)).remaining()).isEqualTo(4);
        assertThat(get(limiter.checkMany(List.of("k"))))
                .extracting(
                        checked -> Objects.requireNonNull(checked.decision()).remaining())
                .containsExactly(3L);
        assertThat(get(limiter.refund("k", 1, null))).isTrue();
        assertThat(store.applySync("login:k", strategy.peek()).remaining()).isEqualTo(4);
        limiter.reset("k").block();
        assertThat(store.applySync("login:k", strategy.peek()).remaining()).isEqualTo(10);
    }

    @Test
    void namesTheCallThatNeedsAStoreInThisProcess() {
        Limiter limiter = Limiter.builder(Gcra.of(2, SECOND))
                .store(remote(MemoryStore.create()))
                .build();

        assertThatThrownBy(() -> limiter.checkUpToSync("k", 1, 2)).hasMessageStartingWith("checkUpToSync needs");
        assertThatThrownBy(() -> limiter.checkManySync(List.of("k"))).hasMessageStartingWith("checkManySync needs");
        assertThatThrownBy(() -> limiter.peekSync("k")).hasMessageStartingWith("peekSync needs");
        assertThatThrownBy(() -> limiter.forecastSync("k", 1)).hasMessageStartingWith("forecastSync needs");
        assertThatThrownBy(() -> limiter.refundSync("k", 1, null)).hasMessageStartingWith("refundSync needs");
        assertThatThrownBy(() -> limiter.resetSync("k")).hasMessageStartingWith("resetSync needs");
    }

    @Test
    void anErrorOfOneKeyInThisProcessDoesNotTouchTheOthersEither() {
        MemoryStore store = MemoryStore.builder().clock(clock).build();
        Limiter limiter = Limiter.builder(Gcra.of(2, SECOND)).store(store).build();
        store.applySync("odd", FixedWindow.of(1, Duration.ofDays(1)).check(1, 1));

        for (List<Checked> results : List.of(
                limiter.checkManySync(List.of("a", "odd", "b")), get(limiter.checkMany(List.of("c", "odd", "d"))))) {
            assertThat(results).extracting(Checked::allowed).containsExactly(true, false, true);
            assertThat(results.get(1).error()).isInstanceOf(StateMismatchException.class);
        }
    }

    @Test
    void asksARemoteStoreForManyKeysAtOnce() {
        List<String> asked = new ArrayList<>();
        Store silent = new Store() {
            @Override
            public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
                return Mono.<R>never().doOnSubscribe(s -> asked.add(key));
            }

            @Override
            public Mono<Void> reset(String key) {
                return Mono.never();
            }

            @Override
            public Mono<Void> close() {
                return Mono.never();
            }
        };
        List<String> keys = IntStream.range(0, Limiter.MAX_KEYS_TOGETHER)
                .mapToObj(Integer::toString)
                .toList();

        Limiter.builder(Gcra.of(2, SECOND))
                .store(silent)
                .build()
                .checkMany(keys)
                .subscribe()
                .dispose();

        assertThat(asked).isEqualTo(keys);
    }

    @Test
    void aCheckedKeyHasADecisionOrAnError() {
        Decision decision = twoPerSecond().checkSync("k");
        Throwable error = new IllegalStateException("broken on purpose");

        assertThat(new Checked("k", decision, null).allowed()).isTrue();
        assertThat(new Checked("k", null, error).allowed()).isFalse();
        assertThatThrownBy(() -> new Checked("k", decision, error)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Checked("k", null, null))
                .hasMessage("there must be either a decision or an error");
    }

    @Test
    void decidesManyKeysOfOneProcessAtOneTime() {
        Clock ticking = new Clock() {
            private long micros = 1_759_996_572_738_000L;

            @Override
            public long epochMicros() {
                return micros += 1_000;
            }

            @Override
            public long monotonicNanos() {
                return micros * 1_000;
            }
        };
        Limiter limiter = Limiter.builder(Gcra.of(2, SECOND)).clock(ticking).build();

        for (List<Checked> results :
                List.of(get(limiter.checkMany(List.of("a", "b"))), limiter.checkManySync(List.of("a", "b")))) {
            assertThat(results)
                    .extracting(checked ->
                            Objects.requireNonNull(checked.decision()).decidedAtMs())
                    .containsOnly(
                            Objects.requireNonNull(results.get(0).decision()).decidedAtMs());
        }
    }

    @Test
    void aGuardedMonoIsAMono() {
        assertThat(twoPerSecond().<String>guard("k").apply(Mono.just("done"))).isInstanceOf(Mono.class);
    }
}
