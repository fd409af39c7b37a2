package io.throttlekit.concurrency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.throttlekit.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;

class ConcurrencyGuardTest {
    private final ManualClock clock = ManualClock.at(0);

    private AdaptiveConcurrency.Builder options(int limit) {
        return AdaptiveConcurrency.gradient2().minLimit(1).initialLimit(limit).clock(clock);
    }

    private ConcurrencyGuard guard(int limit) {
        return options(limit).build();
    }

    @Test
    void admitsExactlyTheLimit() {
        ConcurrencyGuard guard = guard(3);
        List<Lease> leases = new ArrayList<>();

        for (int i = 0; i < 5; i++) {
            leases.add(guard.acquire());
        }

        assertThat(leases).extracting(Lease::ok).containsExactly(true, true, true, false, false);
        assertThat(guard.inFlight()).isEqualTo(3);
        assertThat(guard.stats().rejected()).isEqualTo(2);
    }

    @Test
    void releasesOnceHoweverOften() {
        ConcurrencyGuard guard = guard(3);
        Lease one = guard.acquire();
        Lease two = guard.acquire();

        one.cancel();
        one.release();
        one.releaseDropped();
        one.releaseFailed(new TimeoutException());
        one.cancel();

        assertThat(guard.inFlight()).isEqualTo(1);
        assertThat(guard.stats().dropped()).isZero();
        two.release();
        assertThat(guard.inFlight()).isZero();
    }

    @Test
    void releasesNothingOfARefusedLease() {
        ConcurrencyGuard guard = guard(1);
        Lease held = guard.acquire();
        Lease refused = guard.acquire();

        refused.release();
        refused.releaseDropped();
        refused.releaseFailed(new TimeoutException());
        refused.cancel();

        assertThat(guard.inFlight()).isEqualTo(1);
        assertThat(held.ok()).isTrue();
    }

    @Test
    void lowersTheLimitForTimeoutsAndNamedErrorsOnly() {
        ConcurrencyGuard guard =
                options(100).dropWhen(IOException.class::isInstance).build();

        guard.acquire().releaseFailed(new IllegalStateException());
        int other = guard.limit();
        guard.acquire().releaseFailed(new IOException());
        int named = guard.limit();
        guard.acquire().releaseFailed(new TimeoutException());

        assertThat(other).isEqualTo(100);
        assertThat(named).isLessThan(other);
        assertThat(guard.limit()).isLessThan(named);
        assertThat(guard.stats().dropped()).isEqualTo(2);
    }

    @Test
    void learnsNothingFromCancelsAndFastErrors() {
        ConcurrencyGuard guard = guard(10);

        for (int i = 0; i < 1000; i++) {
            Lease cancelled = guard.acquire();
            Lease failed = guard.acquire();
            clock.advance(Duration.ofMillis(1));
            cancelled.cancel();
            failed.releaseFailed(new IllegalArgumentException());
        }

        assertThat(guard.limit()).isEqualTo(10);
        assertThat(guard.stats().noLoadRtt()).isZero();
    }

    @Test
    void measuresTheNoLoadRtt() {
        ConcurrencyGuard guard = guard(10);

        for (int i = 0; i < 10; i++) {
            Lease lease = guard.acquire();
            clock.advance(Duration.ofMillis(5));
            lease.release();
        }

        assertThat(guard.stats().noLoadRtt()).isEqualTo(Duration.ofMillis(5));
    }

    @Test
    void holdsNothingUntilSubscribed() {
        ConcurrencyGuard guard = guard(1);

        Mono<Integer> mono = Mono.just(1).transform(guard.protect());
        Flux<Integer> flux = Flux.just(1, 2).transform(guard.protect());

        assertThat(guard.inFlight()).isZero();
        StepVerifier.create(mono).expectNext(1).verifyComplete();
        StepVerifier.create(flux).expectNext(1, 2).verifyComplete();
        StepVerifier.create(mono).expectNext(1).verifyComplete();
        assertThat(guard.inFlight()).isZero();
    }

    @Test
    void failsWithoutSubscribingWhenThereIsNoPlace() {
        ConcurrencyGuard guard = guard(1);
        TestPublisher<String> source = TestPublisher.create();
        Lease held = guard.acquire();

        Mono<String> mono = source.mono().transform(guard.protect());
        Flux<String> flux = source.flux().transform(guard.protect());

        StepVerifier.create(mono)
                .verifyErrorSatisfies(error -> assertThat(error)
                        .isInstanceOf(ConcurrencyLimitException.class)
                        .hasMessage("concurrency limit reached: 1 in flight")
                        .satisfies(e -> assertThat(e.getStackTrace()).isEmpty()));
        StepVerifier.create(flux).verifyError(ConcurrencyLimitException.class);
        source.assertWasNotSubscribed();
        assertThat(guard.inFlight()).isEqualTo(1);
        held.release();
    }

    @Test
    void releasesOnEveryTerminalSignal() {
        ConcurrencyGuard guard = guard(4);
        List<Publisher<Integer>> sources = List.of(
                Mono.just(1),
                Mono.empty(),
                Mono.error(new IllegalStateException()),
                Flux.range(1, 10),
                Flux.range(1, 10).hide(),
                Flux.empty(),
                Flux.error(new IllegalStateException()),
                Flux.range(1, 3).concatWith(Mono.error(new IllegalStateException())));

        for (Publisher<Integer> source : sources) {
            Publisher<Integer> guarded = guard.<Integer>protect().apply(source);
            Flux.from(guarded).onErrorComplete().blockLast(Duration.ofSeconds(5));

            assertThat(guard.inFlight()).isZero();
        }
    }

    @Test
    void holdsItsPlaceWhileTheSourceRuns() {
        ConcurrencyGuard guard = guard(4);
        Sinks.Many<Integer> sink = Sinks.many().unicast().onBackpressureBuffer();
        List<Integer> inFlight = new ArrayList<>();

        sink.asFlux()
                .<Integer>transform(guard.protect())
                .doOnNext(value -> inFlight.add(guard.inFlight()))
                .doOnComplete(() -> inFlight.add(guard.inFlight()))
                .subscribe();
        sink.tryEmitNext(1).orThrow();
        sink.tryEmitComplete().orThrow();

        assertThat(inFlight).containsExactly(1, 0);
    }

    @Test
    void releasesOnCancelWithoutASample() {
        ConcurrencyGuard guard = guard(4);

        Disposable mono = Mono.never().transform(guard.protect()).subscribe();
        Disposable flux = Flux.never().transform(guard.protect()).subscribe();
        int held = guard.inFlight();
        mono.dispose();
        flux.dispose();
        StepVerifier.create(
                        Flux.range(1, 100).transform(guard.<Integer>protect()).take(3))
                .expectNext(1, 2, 3)
                .verifyComplete();

        assertThat(held).isEqualTo(2);
        assertThat(guard.inFlight()).isZero();
        assertThat(guard.limit()).isEqualTo(4);
    }

    @Test
    void countsATimeoutInsideAsADropAndOneOutsideAsACancel() {
        ConcurrencyGuard guard = guard(100);
        Duration soon = Duration.ofMillis(10);

        StepVerifier.create(Mono.never().timeout(soon).transform(guard.protect()))
                .verifyError(TimeoutException.class);
        long inside = guard.stats().dropped();
        StepVerifier.create(Mono.never().transform(guard.protect()).timeout(soon))
                .verifyError(TimeoutException.class);

        assertThat(inside).isEqualTo(1);
        assertThat(guard.stats().dropped()).isEqualTo(1);
        assertThat(guard.inFlight()).isZero();
    }

    @Test
    void releasesWhenTheSupplierThrows() {
        ConcurrencyGuard guard = guard(1);
        Publisher<Integer> broken = (Subscriber<? super Integer> subscriber) -> {
            throw new IllegalStateException("at assembly");
        };

        StepVerifier.create(Mono.<Integer>defer(() -> {
                            throw new IllegalStateException("at assembly");
                        })
                        .transform(guard.protect()))
                .verifyErrorMessage("at assembly");
        StepVerifier.create(Mono.from(broken).transform(guard.protect())).verifyErrorMessage("at assembly");
        StepVerifier.create(Flux.from(broken).transform(guard.protect())).verifyErrorMessage("at assembly");

        assertThat(guard.inFlight()).isZero();
    }

    @Test
    void releasesWhenThePredicateThrows() {
        ConcurrencyGuard guard = options(1)
                .dropWhen(error -> {
                    throw new IllegalArgumentException("predicate");
                })
                .build();

        StepVerifier.create(Mono.error(new IOException()).transform(guard.protect()))
                .verifyError();

        assertThat(guard.inFlight()).isZero();
    }

    @Test
    void findsItsOwnPlaceAgainOnRetryAndRepeat() {
        ConcurrencyGuard guard = guard(1);
        AtomicInteger tries = new AtomicInteger();
        Mono<Integer> flaky = Mono.fromCallable(() -> {
            if (tries.incrementAndGet() < 4) {
                throw new IOException("not yet");
            }
            return guard.inFlight();
        });

        StepVerifier.create(flaky.transform(guard.<Integer>protect()).retry(3))
                .expectNext(1)
                .verifyComplete();
        StepVerifier.create(Mono.just(7).transform(guard.<Integer>protect()).repeat(2))
                .expectNext(7, 7, 7)
                .verifyComplete();

        assertThat(tries).hasValue(4);
        assertThat(guard.inFlight()).isZero();
    }

    @Test
    void countsEachNestedUse() {
        ConcurrencyGuard outer = guard(2);
        ConcurrencyGuard inner = guard(1);
        List<Integer> seen = new ArrayList<>();
        Mono<Integer> call = Mono.fromCallable(() -> {
            seen.add(outer.inFlight());
            seen.add(inner.inFlight());
            return 1;
        });

        StepVerifier.create(call.transform(inner.<Integer>protect()).transform(outer.protect()))
                .expectNext(1)
                .verifyComplete();
        StepVerifier.create(call.transform(outer.<Integer>protect()).transform(outer.protect()))
                .expectNext(1)
                .verifyComplete();

        assertThat(seen).containsExactly(1, 1, 2, 0);
        assertThat(outer.inFlight()).isZero();
        assertThat(inner.inFlight()).isZero();
    }

    @Test
    void doesNotTakeAnInnerRefusalForADrop() {
        ConcurrencyGuard outer = guard(100);
        ConcurrencyGuard inner = guard(1);
        Lease held = inner.acquire();

        StepVerifier.create(Mono.just(1).transform(inner.<Integer>protect()).transform(outer.protect()))
                .verifyError(ConcurrencyLimitException.class);

        assertThat(outer.limit()).isEqualTo(100);
        assertThat(outer.inFlight()).isZero();
        held.release();
    }

    @Test
    void showsItsNumbersAsMeters() {
        ConcurrencyGuard guard = guard(3);
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        ConcurrencyMetrics.of(guard, "orders").bindTo(registry);

        Lease lease = guard.acquire();
        guard.acquire();
        guard.acquire();
        guard.acquire();
        lease.releaseDropped();

        assertThat(registry.get("throttlekit.concurrency.limit")
                        .tag("guard", "orders")
                        .gauge()
                        .value())
                .isEqualTo(guard.limit());
        assertThat(registry.get("throttlekit.concurrency.inflight").gauge().value())
                .isEqualTo(2);
        assertThat(registry.get("throttlekit.concurrency.rejected")
                        .functionCounter()
                        .count())
                .isEqualTo(1);
        assertThat(registry.get("throttlekit.concurrency.dropped")
                        .functionCounter()
                        .count())
                .isEqualTo(1);
    }

    @Test
    void startsAtTheLeastLimitUnlessToldOtherwise() {
        ConcurrencyGuard plain = AdaptiveConcurrency.gradient2().build();
        ConcurrencyGuard told = AdaptiveConcurrency.aimd().initialLimit(20).build();

        assertThat(plain.limit()).isEqualTo(4);
        assertThat(told.limit()).isEqualTo(20);
    }

    @Test
    void refusesOptionsOutOfRange() {
        AdaptiveConcurrency.Builder gradient2 = AdaptiveConcurrency.gradient2();
        AdaptiveConcurrency.Builder aimd = AdaptiveConcurrency.aimd();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> gradient2.minLimit(0))
                .withMessage("minLimit must be 1 to 1000000, was 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        AdaptiveConcurrency.aimd().minLimit(10).maxLimit(9).build())
                .withMessage("maxLimit must be at least minLimit (10), was 9");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> AdaptiveConcurrency.aimd().initialLimit(3).build())
                .withMessage("initialLimit must be 4 to 512, was 3");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> gradient2.smoothing(0))
                .withMessage("smoothing must be above 0 and at most 1, was 0.0");
        assertThatIllegalArgumentException().isThrownBy(() -> gradient2.smoothing(Double.NaN));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> gradient2.tolerance(0.9))
                .withMessage("tolerance must be 1 to 100, was 0.9");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> gradient2.rttWindow(0))
                .withMessage("rttWindow must be 10 to 1000000, was 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> aimd.backoffRatio(1))
                .withMessage("backoffRatio must be at least 0.5 and below 1, was 1.0");
        assertThatIllegalArgumentException().isThrownBy(() -> aimd.backoffRatio(0.49));
        assertThatIllegalStateException().isThrownBy(() -> aimd.smoothing(0.2));
        assertThatIllegalStateException().isThrownBy(() -> gradient2.backoffRatio(0.9));
    }
}
