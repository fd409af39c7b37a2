package io.throttlekit.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Clock;
import io.throttlekit.Decision;
import io.throttlekit.ManualClock;
import io.throttlekit.Store;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.Transform;
import io.throttlekit.limiter.Wire.Holding;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.FixedWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Leases, where something leaves early, comes late, or happens in between. */
class LeaseEdgesTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final long START = 1_759_996_560_000_000L;

    private final ManualClock clock = ManualClock.at(START);
    private final MemoryStore store = MemoryStore.builder().clock(clock).build();
    private final Wire wire = new Wire(store);
    private final FixedWindow strategy = FixedWindow.of(100, MINUTE);

    private Limiter leased(LeaseOptions options) {
        return TwoTier.leased(strategy, wire, options).clock(clock).build();
    }

    private long used(String key) {
        return strategy.limit() - store.applySync(key, strategy.peek()).remaining();
    }

    private static Decision get(Mono<Decision> check) {
        return Objects.requireNonNull(check.block(Duration.ofSeconds(5)));
    }

    /** What a check would get of the credits here, as the peek tells that asks no store. */
    private long here(Limiter limiter) {
        int calls = wire.calls.get();
        long remaining = get(limiter.peek("k")).remaining();
        assertThat(wire.calls).hasValue(calls);
        return remaining;
    }

    @Test
    void tellsTheStoresTimeOfAnyLease() {
        clock.advance(Duration.ofSeconds(7));
        Limiter limiter = leased(LeaseOptions.batch(10));
        get(limiter.check("k"));

        clock.advance(SECOND);

        assertThat(get(limiter.check("k")).decidedAtMs()).isEqualTo(START / 1000 + 8_000);
        assertThat(get(limiter.peek("k")).decidedAtMs()).isEqualTo(START / 1000 + 8_000);
    }

    @Test
    void whoStoodBehindAWaiterThatLeavesIsServedFromCreditsAtOnce() {
        clock.advance(Duration.ofSeconds(7));
        Limiter limiter = leased(LeaseOptions.batch(10));
        get(limiter.check("k", 6));
        wire.holding = Holding.REQUESTS;
        Heard large = Heard.of(limiter.check("k", 5));
        Heard small = Heard.of(limiter.check("k", 3));
        clock.advance(SECOND);
        assertThat(small.signals).isEmpty();

        large.cancel();

        assertThat(small.decision())
                .isEqualTo(Decision.allowed(3, 100, 1, START / 1000 + 60_000, START / 1000 + 8_000));
        assertThat(here(limiter)).isEqualTo(1);
    }

    @Test
    void unitsOfWhoLeavesWhileOthersAreServedAreCreditsAgain() {
        Limiter limiter = leased(LeaseOptions.batch(10));
        wire.holding = Holding.REPLIES;
        List<Heard> checks = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            int number = i;
            Heard heard = new Heard(() -> {
                if (number == 0) {
                    checks.get(1).cancel();
                }
            });
            checks.add(heard);
            limiter.check("k", 2).subscribe(heard);
        }

        wire.releaseAll();

        assertThat(checks.get(0).allowed()).isTrue();
        assertThat(checks.get(1).signals).isEmpty();
        assertThat(checks.get(2).allowed()).isTrue();
        assertThat(here(limiter)).isEqualTo(6);
        assertThat(used("k")).isEqualTo(10);
    }

    @Test
    void creditsAreAtHandWhileARefillIsOnItsWayAndAfterAFailure() {
        Limiter limiter = leased(LeaseOptions.batch(10).lowWater(3));
        get(limiter.check("k", 7));
        wire.holding = Holding.REQUESTS;
        get(limiter.check("k"));

        assertThat(here(limiter)).isEqualTo(2);
        wire.broken = new StoreUnavailableException(Reason.SERVER, false, "broken on purpose", null);
        wire.releaseAll();
        StepVerifier.create(limiter.check("k", 20)).verifyError(StoreUnavailableException.class);

        assertThat(here(limiter)).isEqualTo(12);
    }

    @Test
    void aKeyWhoseRefillIsOnItsWayDoesNotMakeRoom() {
        Limiter limiter = TwoTier.leased(strategy, wire, LeaseOptions.batch(10).lowWater(3))
                .clock(clock)
                .maxKeys(1)
                .build();
        get(limiter.check("k", 8));
        wire.holding = Holding.REQUESTS;
        get(limiter.check("k"));
        wire.holding = Holding.NOTHING;

        assertThat(get(limiter.check("other")).allowed()).isTrue();

        assertThat(used("other")).isEqualTo(1);
        assertThat(here(limiter)).isEqualTo(1);
    }

    @Test
    void aCostOfTheWholeLimitIsServedFromCredits() {
        Limiter limiter = leased(LeaseOptions.batch(200));
        wire.holding = Holding.REPLIES;
        Heard.of(limiter.check("k")).cancel();
        wire.releaseAll();
        assertThat(here(limiter)).isEqualTo(100);

        assertThat(get(limiter.check("k", 100)).allowed()).isTrue();
    }

    @Test
    void whatCanNeverBeHadIsToldWhileOthersWait() {
        Limiter limiter = leased(LeaseOptions.batch(10));
        wire.holding = Holding.REPLIES;
        Heard waiting = Heard.of(limiter.check("k"));
        wire.holding = Holding.NOTHING;

        assertThat(get(limiter.check("k", 101)).exceedsLimit()).isTrue();

        assertThat(waiting.signals).isEmpty();
    }

    @Test
    void aCheckWithoutRoomForItsKeyIsTheStoresAlsoWhenItFailsOrIsCancelled() {
        Limiter limiter = TwoTier.leased(strategy, wire, LeaseOptions.batch(10))
                .clock(clock)
                .maxKeys(1)
                .build();
        wire.holding = Holding.REQUESTS;
        Heard busy = Heard.of(limiter.check("busy"));

        Heard left = Heard.of(limiter.check("k"));
        left.cancel();
        wire.broken = new StoreUnavailableException(Reason.SERVER, false, "broken on purpose", null);
        Heard failed = Heard.of(limiter.check("k"));
        wire.releaseAll();

        assertThat(busy.allowed()).isTrue();
        assertThat(failed.only()).isSameAs(wire.broken);
        assertThat(used("k")).isZero();
    }

    @Test
    void aStoreThatAnswersNothingIsAnError() {
        Limiter limiter = TwoTier.leased(
                        strategy,
                        new Elsewhere() {
                            @Override
                            public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
                                return Mono.empty();
                            }
                        },
                        LeaseOptions.batch(10))
                .clock(clock)
                .build();

        StepVerifier.create(limiter.check("k")).verifyErrorMessage("the store answered nothing");
        StepVerifier.create(limiter.check("k")).verifyErrorMessage("the store answered nothing");
    }

    @Test
    void aSubscriberThatThrowsKeepsNobodyFromAnAnswer() {
        List<Throwable> dropped = new ArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        try {
            Limiter limiter = leased(LeaseOptions.batch(10));
            wire.holding = Holding.REQUESTS;
            Error broken = new AssertionError("thrown on purpose");
            limiter.check("k").subscribe(new CoreSubscriber<>() {
                @Override
                public void onSubscribe(Subscription subscription) {
                    subscription.request(1);
                }

                @Override
                public void onNext(Decision decision) {
                    throw broken;
                }

                @Override
                public void onError(Throwable error) {}

                @Override
                public void onComplete() {}
            });
            Heard second = Heard.of(limiter.check("k"));

            wire.releaseAll();

            assertThat(second.allowed()).isTrue();
            assertThat(dropped).containsExactly(broken);
        } finally {
            Hooks.resetOnErrorDropped();
        }
    }

    /** A clock that lets something happen in between, once: when a check has found its key and not yet its credits. */
    private final class Between implements Clock {
        @Nullable
        Runnable action;

        @Override
        public long epochMicros() {
            return clock.epochMicros();
        }

        @Override
        public long monotonicNanos() {
            Runnable now = action;
            action = null;
            if (now != null) {
                now.run();
            }
            return clock.monotonicNanos();
        }
    }

    @Test
    void aKeyThatMakesRoomWhileItIsCheckedGetsANewLease() {
        Between between = new Between();
        Limiter limiter = TwoTier.leased(strategy, wire, LeaseOptions.batch(10))
                .clock(between)
                .maxKeys(1)
                .build();
        get(limiter.check("k"));

        between.action = () -> get(limiter.check("other"));
        Decision decision = get(limiter.check("k"));

        assertThat(decision.allowed()).isTrue();
        // Both made room once, and their credits went back.
        assertThat(used("other")).isEqualTo(1);
        assertThat(used("k")).isEqualTo(11);
    }

    @Test
    void aKeyThatIsClosedWhileItIsCheckedTellsSo() {
        Between between = new Between();
        Limiter limiter = TwoTier.leased(strategy, wire, LeaseOptions.batch(10))
                .clock(between)
                .build();
        get(limiter.check("k"));

        between.action = () -> limiter.close().block();

        StepVerifier.create(limiter.check("k")).verifyErrorMessage("the limiter is closed");
        assertThat(used("k")).isEqualTo(1);
    }

    @Test
    void whoCancelsWhileItIsCheckedIsNotCharged() {
        Between between = new Between();
        Limiter limiter = TwoTier.leased(strategy, wire, LeaseOptions.batch(10))
                .clock(between)
                .build();
        Heard heard = new Heard(() -> {});
        between.action = heard::cancel;

        limiter.check("k").subscribe(heard);

        assertThat(heard.signals).isEmpty();
        assertThat(wire.calls).hasValue(0);
        assertThat(get(limiter.check("k")).remaining()).isEqualTo(9);
    }

    @Test
    void closeWaitsForWhatIsOnItsWay() {
        Limiter limiter = leased(LeaseOptions.batch(10).deadline(MINUTE));
        wire.holding = Holding.REPLIES;
        Heard waiting = Heard.of(limiter.check("k", 5));

        Disposable closing = limiter.close().subscribe();

        assertThat(waiting.only()).isInstanceOf(StoreUnavailableException.class);
        assertThat(closing.isDisposed()).isFalse();
        // First the lease comes, then its units go back.
        assertThat(wire.releaseOne()).isTrue();
        assertThat(wire.refunds).hasValue(1);
        assertThat(closing.isDisposed()).isFalse();
        assertThat(wire.releaseOne()).isTrue();
        assertThat(closing.isDisposed()).isTrue();
        assertThat(used("k")).isZero();
    }

    @Test
    void closeAsksNothingOfTheStoreWhenNothingIsLeft() {
        Limiter limiter = leased(LeaseOptions.batch(10));
        get(limiter.check("k", 10));

        StepVerifier.create(limiter.close()).verifyComplete();

        assertThat(wire.calls).hasValue(1);
    }

    /** A store of which only {@code apply} matters. */
    private abstract static class Elsewhere implements Store {
        @Override
        public Mono<Void> reset(String key) {
            return Mono.empty();
        }

        @Override
        public Mono<Void> close() {
            return Mono.empty();
        }
    }

    /** Never answers, and counts who gives up. */
    private static final class Silent extends Elsewhere {
        int cancelled;

        @Override
        public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
            return Mono.<R>never().doOnCancel(() -> cancelled++);
        }
    }

    @Test
    void closeCancelsWhatHasNotComeByTheDeadline() {
        VirtualTimeScheduler time = VirtualTimeScheduler.getOrSet();
        try {
            Silent silent = new Silent();
            Limiter limiter = TwoTier.leased(
                            strategy, silent, LeaseOptions.batch(10).deadline(SECOND))
                    .clock(clock)
                    .build();
            Heard.of(limiter.check("k"));
            Heard.of(limiter.check("other"));
            time.advanceTimeBy(Duration.ofMillis(500));

            limiter.close().subscribe();

            // The checks' own deadline is in half a second, and cancels the same.
            time.advanceTimeBy(Duration.ofMillis(499));
            assertThat(silent.cancelled).isZero();
            time.advanceTimeBy(SECOND);
            assertThat(silent.cancelled).isEqualTo(2);
        } finally {
            VirtualTimeScheduler.reset();
        }
    }

    /** Answers refunds never, and everything else at once. */
    private final class KeepsRefunds extends Elsewhere {
        int refunds;

        @Override
        public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
            R answer = store.applySync(key, transform);
            if (answer instanceof Boolean) {
                refunds++;
                return Mono.never();
            }
            return Mono.just(answer);
        }
    }

    @Test
    void givesUnitsUpWhileTooManyRefundsAreOnTheirWay() {
        KeepsRefunds slow = new KeepsRefunds();
        Limiter limiter = TwoTier.leased(strategy, slow, LeaseOptions.batch(10))
                .clock(clock)
                .maxKeys(1)
                .build();

        for (int key = 0; key < 4_200; key++) {
            get(limiter.check("k" + key));
        }

        assertThat(slow.refunds).isEqualTo(4_096);
    }

    /** A store whose answers come when the test says so, even if nobody waits for them any more. */
    private static final class Deaf extends Elsewhere {
        final List<Subscriber<? super Object>> calls = new ArrayList<>();

        @Override
        @SuppressWarnings("unchecked")
        public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
            Publisher<R> publisher = subscriber -> {
                calls.add((Subscriber<? super Object>) subscriber);
                subscriber.onSubscribe(Operators.emptySubscription());
            };
            return Mono.from(publisher);
        }
    }

    @Test
    void whatComesAfterTheDeadlineDoesNotTouchTheNextRequest() {
        VirtualTimeScheduler time = VirtualTimeScheduler.getOrSet();
        try {
            time.advanceTimeBy(MINUTE);
            Deaf deaf = new Deaf();
            Limiter limiter = TwoTier.leased(strategy, deaf, LeaseOptions.batch(10))
                    .clock(clock)
                    .build();
            Heard first = Heard.of(limiter.check("k"));
            time.advanceTimeBy(Duration.ofMillis(250));
            Heard second = Heard.of(limiter.check("k"));
            time.advanceTimeBy(Duration.ofMillis(250));
            assertThat(first.only()).isInstanceOf(StoreUnavailableException.class);
            assertThat(second.only()).isInstanceOf(StoreUnavailableException.class);
            Heard third = Heard.of(limiter.check("k"));
            assertThat(deaf.calls).hasSize(3);

            deaf.calls.get(0).onNext(Decision.allowed(10, 100, 90, START / 1000 + 60_000, START / 1000));
            deaf.calls.get(1).onComplete();
            assertThat(third.signals).isEmpty();
            deaf.calls.get(2).onNext(Decision.allowed(10, 100, 80, START / 1000 + 60_000, START / 1000));

            assertThat(third.decision().remaining()).isEqualTo(9);
        } finally {
            VirtualTimeScheduler.reset();
        }
    }

    @Test
    void eachWaitersDeadlineCountsFromItsOwnStart() {
        VirtualTimeScheduler time = VirtualTimeScheduler.getOrSet();
        try {
            time.advanceTimeBy(MINUTE);
            Store slow = new Slow(store, Duration.ofMillis(200));
            Limiter limiter = TwoTier.leased(strategy, slow, LeaseOptions.batch(1))
                    .clock(clock)
                    .build();
            Heard first = Heard.of(limiter.check("k"));
            time.advanceTimeBy(Duration.ofMillis(100));
            Heard second = Heard.of(limiter.check("k"));

            time.advanceTimeBy(Duration.ofMillis(249));
            assertThat(first.allowed()).isTrue();
            assertThat(second.signals).isEmpty();
            time.advanceTimeBy(Duration.ofMillis(1));

            assertThat(second.only()).isInstanceOfSatisfying(StoreUnavailableException.class, error -> {
                assertThat(error.reason()).isEqualTo(Reason.TIMEOUT);
                assertThat(error.mayHaveCharged()).isTrue();
            });
        } finally {
            VirtualTimeScheduler.reset();
        }
    }

    @Test
    void creditsAreAtHandAfterATimeout() {
        VirtualTimeScheduler time = VirtualTimeScheduler.getOrSet();
        try {
            time.advanceTimeBy(MINUTE);
            Limiter limiter = leased(LeaseOptions.batch(10));
            Heard.of(limiter.check("k", 6));
            wire.holding = Holding.REQUESTS;
            Heard late = Heard.of(limiter.check("k", 5));

            time.advanceTimeBy(Duration.ofMillis(250));

            assertThat(late.only()).isInstanceOf(StoreUnavailableException.class);
            assertThat(here(limiter)).isEqualTo(4);
        } finally {
            VirtualTimeScheduler.reset();
        }
    }

    @Test
    void looksForIdleKeysWhileThereAreKeys() {
        VirtualTimeScheduler time = VirtualTimeScheduler.getOrSet();
        try {
            Clock virtual = Clock.of(Schedulers.parallel());
            MemoryStore near = MemoryStore.builder()
                    .clock(virtual)
                    .sweepInterval(Duration.ZERO)
                    .build();
            FixedWindow daily = FixedWindow.of(100, Duration.ofDays(1));
            Limiter limiter = TwoTier.leased(daily, near, LeaseOptions.batch(10).returnIdleAfter(Duration.ofSeconds(5)))
                    .clock(virtual)
                    .build();

            for (String key : List.of("first", "later")) {
                Heard.of(limiter.check(key));
                time.advanceTimeBy(Duration.ofSeconds(6));
                assertThat(near.applySync(key, daily.peek()).remaining()).isEqualTo(99);
                long tasks = time.getScheduledTaskCount();
                time.advanceTimeBy(MINUTE);
                assertThat(time.getScheduledTaskCount()).isEqualTo(tasks);
            }
        } finally {
            VirtualTimeScheduler.reset();
        }
    }

    @Test
    void aPeekAsksTheStoreOnceTheWindowOfCoupledCreditsIsOver() {
        Limiter limiter = leased(LeaseOptions.batch(10).windowCoupled());
        get(limiter.check("k"));

        clock.advance(MINUTE.minusMillis(1));
        assertThat(here(limiter)).isEqualTo(9);
        clock.advance(Duration.ofMillis(1));

        assertThat(get(limiter.peek("k")).remaining()).isEqualTo(100);
    }

    @Test
    void aRefillThatIsNeverAnsweredKeepsNobodyFromTheNextLease() {
        VirtualTimeScheduler time = VirtualTimeScheduler.getOrSet();
        try {
            time.advanceTimeBy(MINUTE);
            Limiter limiter = leased(LeaseOptions.batch(10).lowWater(3));
            Heard.of(limiter.check("k", 7));
            wire.holding = Holding.REQUESTS;
            assertThat(Heard.of(limiter.check("k")).allowed()).isTrue();

            time.advanceTimeBy(Duration.ofMillis(250));
            wire.holding = Holding.NOTHING;

            assertThat(Heard.of(limiter.check("k", 5)).allowed()).isTrue();
        } finally {
            VirtualTimeScheduler.reset();
        }
    }
}
