package io.throttlekit.limiter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.Clock;
import io.throttlekit.Decision;
import io.throttlekit.ManualClock;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.Strategy;
import io.throttlekit.SynchronousAccessException;
import io.throttlekit.limiter.Wire.Holding;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.Quota;
import io.throttlekit.strategy.SlidingWindow;
import io.throttlekit.strategy.SlidingWindowLog;
import io.throttlekit.strategy.TokenBucket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;

class LeasedTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final long START = 1_759_996_560_000_000L;

    private final ManualClock clock = ManualClock.at(START);
    private final MemoryStore store = MemoryStore.builder().clock(clock).build();
    private final Wire wire = new Wire(store);

    private Limiter leased(Strategy<?> strategy, LeaseOptions options) {
        return TwoTier.leased(strategy, wire, options).clock(clock).build();
    }

    private long used(Strategy<?> strategy) {
        return strategy.limit()
                - store.applySync("k", strategy.peek(), store.nowMicros()).remaining();
    }

    private static Decision get(Mono<Decision> check) {
        return Objects.requireNonNull(check.block(Duration.ofSeconds(5)));
    }

    private static StoreUnavailableException outage(Reason reason) {
        return new StoreUnavailableException(reason, false, "broken on purpose", null);
    }

    @Test
    void servesSixtyChecksWithTwoLeases() {
        Limiter limiter = leased(Gcra.of(10_000, MINUTE).withBurst(500), LeaseOptions.batch(50));

        List<Heard> checks = Heard.times(60, limiter.check("k"));

        assertThat(checks).allMatch(Heard::allowed);
        assertThat(wire.calls).hasValue(2);
    }

    @Test
    void aLocalAllowTellsOfItsLease() {
        FixedWindow strategy = FixedWindow.of(100, MINUTE);
        Limiter limiter = leased(strategy, LeaseOptions.batch(10));
        Decision first = get(limiter.check("k"));

        clock.advance(SECOND);
        Decision second = get(limiter.check("k", 3));

        assertThat(first).isEqualTo(Decision.allowed(1, 100, 9, START / 1000 + 60_000, START / 1000));
        assertThat(second).isEqualTo(Decision.allowed(3, 100, 6, START / 1000 + 60_000, START / 1000 + 1000));
        assertThat(get(limiter.peek("k")).remaining()).isEqualTo(6);
        assertThat(used(strategy)).isEqualTo(10);
    }

    @Test
    void handsOutTheLastUnitsAndThenTheSecondTiersDenial() {
        FixedWindow strategy = FixedWindow.of(100, MINUTE);
        for (int batch : new int[] {1, 7, 50, 1000}) {
            Limiter limiter = TwoTier.leased(strategy, wire, LeaseOptions.batch(batch))
                    .clock(clock)
                    .prefix("b" + batch)
                    .build();

            List<Heard> checks = Heard.times(100, limiter.check("k"));

            assertThat(checks).allMatch(Heard::allowed);
            assertThat(get(limiter.check("k")))
                    .isEqualTo(store.applySync("b" + batch + ":k", strategy.check(1, 1), store.nowMicros()));
        }
    }

    @Test
    void leasesOnlyWhatACostLacks() {
        FixedWindow strategy = FixedWindow.of(10, MINUTE);
        Limiter limiter = leased(strategy, LeaseOptions.batch(4));
        get(limiter.check("k"));

        assertThat(get(limiter.check("k", 9))).matches(Decision::allowed).matches(d -> d.remaining() == 0);
        assertThat(get(limiter.check("k", 1)).retryAfterMs()).isEqualTo(60_000);
        assertThat(get(limiter.check("k", 11)).exceedsLimit()).isTrue();
    }

    @Test
    void grantsOfARangeWhatThereIs() {
        Limiter limiter = leased(FixedWindow.of(10, MINUTE), LeaseOptions.batch(4));

        assertThat(get(limiter.checkUpTo("k", 1, 3)).granted()).isEqualTo(3);
        assertThat(get(limiter.checkUpTo("k", 1, 3)).granted()).isEqualTo(1);
        assertThat(get(limiter.checkUpTo("k", 2, 100)).granted()).isEqualTo(6);
    }

    @Test
    void aThousandFirstChecksTakeTwoCalls() {
        wire.holding = Holding.REQUESTS;
        Limiter limiter = leased(Gcra.of(10_000, MINUTE), LeaseOptions.batch(50));

        List<Heard> checks = Heard.times(1000, limiter.check("k"));
        wire.releaseAll();

        assertThat(checks).allMatch(Heard::allowed);
        assertThat(wire.calls).hasValue(2);
    }

    @Test
    void aThousandFirstChecksShareOneDenial() {
        wire.holding = Holding.REQUESTS;
        Limiter limiter = leased(FixedWindow.of(100, MINUTE), LeaseOptions.batch(50));

        List<Heard> checks = Heard.times(1000, limiter.check("k"));
        wire.releaseAll();

        assertThat(checks.subList(0, 100)).allMatch(Heard::allowed);
        assertThat(checks.subList(100, 1000))
                .allSatisfy(check -> assertThat(((Decision) check.signals.get(0)).retryAfterMs())
                        .isEqualTo(60_000));
        assertThat(wire.calls).hasValue(3);
    }

    @Test
    void aHundredThousandChecksTakeAThousandLeases() {
        Limiter limiter = leased(FixedWindow.of(1_000_000, MINUTE), LeaseOptions.batch(100));

        for (int i = 0; i < 100_000; i++) {
            assertThat(Heard.of(limiter.check("k")).allowed()).isTrue();
        }

        assertThat(wire.calls.get()).isBetween(1000, 1010);
    }

    @Test
    void servesInOrderAndLetsNobodyPass() {
        Limiter limiter = leased(FixedWindow.of(10, MINUTE), LeaseOptions.batch(3));
        get(limiter.check("k"));
        wire.holding = Holding.REPLIES;
        List<Integer> order = new ArrayList<>();
        Heard big = new Heard(() -> order.add(8));
        Heard small = new Heard(() -> order.add(1));

        limiter.check("k", 8).subscribe(big);
        limiter.check("k", 1).subscribe(small);

        // Two credits are left, but they are spoken for.
        assertThat(small.signals).isEmpty();
        wire.releaseAll();
        assertThat(order).containsExactly(8, 1);
        assertThat(wire.calls).hasValue(3);
    }

    @Test
    void aWaiterThatLeavesEndsNothingForTheOthers() {
        FixedWindow strategy = FixedWindow.of(100, MINUTE);
        Limiter limiter = leased(strategy, LeaseOptions.batch(10));
        wire.holding = Holding.REPLIES;
        List<Heard> checks = Heard.times(3, limiter.check("k"));

        checks.get(0).cancel();
        wire.releaseAll();

        assertThat(checks.get(0).signals).isEmpty();
        assertThat(checks.subList(1, 3)).allMatch(Heard::allowed);
        assertThat(get(limiter.peek("k")).remaining()).isEqualTo(8);
        assertThat(used(strategy)).isEqualTo(10);
    }

    @Test
    void whenAllLeaveTheLeaseIsBankedAndTheSurplusReturned() {
        FixedWindow strategy = FixedWindow.of(100, MINUTE);
        Limiter limiter = leased(strategy, LeaseOptions.batch(10));
        wire.holding = Holding.REPLIES;
        Heard check = Heard.of(limiter.check("k", 30));

        check.cancel();
        wire.releaseAll();

        assertThat(get(limiter.peek("k")).remaining()).isEqualTo(9);
        assertThat(used(strategy)).isEqualTo(9);
        assertThat(wire.refunds).hasValue(1);
    }

    @Test
    void aSubscriberThatCancelsBeforeItRequestsIsNotCharged() {
        Limiter limiter = leased(FixedWindow.of(100, MINUTE), LeaseOptions.batch(10));

        StepVerifier.create(limiter.check("k"), 0).thenCancel().verify();

        assertThat(wire.calls).hasValue(0);
    }

    @Test
    void anErrorReachesEveryWaiterOnceAndLeavesNothingStuck() {
        Limiter limiter = leased(FixedWindow.of(100, MINUTE), LeaseOptions.batch(10));
        wire.holding = Holding.REQUESTS;
        List<Heard> checks = Heard.times(20, limiter.check("k"));
        Throwable error = outage(Reason.DISCONNECTED);
        wire.broken = error;

        // The first request was sent; the second finds the wire broken.
        wire.releaseAll();

        assertThat(checks.subList(0, 10)).allMatch(Heard::allowed);
        assertThat(checks.subList(10, 20))
                .allSatisfy(check -> assertThat(check.signals).containsExactly(error));
        wire.broken = null;
        assertThat(get(limiter.check("k")).allowed()).isTrue();
    }

    @Test
    void localCreditsServeThroughAnOutage() {
        Limiter limiter = leased(FixedWindow.of(100, MINUTE), LeaseOptions.batch(10));
        get(limiter.check("k", 5));
        wire.broken = outage(Reason.SERVER);

        StepVerifier.create(limiter.check("k", 6)).verifyError(StoreUnavailableException.class);
        assertThat(Heard.times(5, limiter.check("k"))).allMatch(Heard::allowed);
        StepVerifier.create(limiter.check("k")).verifyError(StoreUnavailableException.class);
    }

    @Test
    void oneDeadlineCoversAllRounds() {
        VirtualTimeScheduler time = VirtualTimeScheduler.getOrSet();
        try {
            FixedWindow strategy = FixedWindow.of(100, MINUTE);
            MemoryStore near = MemoryStore.builder()
                    .clock(Clock.of(Schedulers.parallel()))
                    .sweepInterval(Duration.ZERO)
                    .build();
            Limiter limiter = TwoTier.leased(strategy, new Slow(near, Duration.ofMillis(200)), LeaseOptions.batch(1))
                    .clock(Clock.of(Schedulers.parallel()))
                    .build();
            Heard first = Heard.of(limiter.check("k"));
            Heard second = Heard.of(limiter.check("k"));

            time.advanceTimeBy(Duration.ofMillis(249));
            assertThat(first.allowed()).isTrue();
            assertThat(second.signals).isEmpty();
            time.advanceTimeBy(Duration.ofMillis(1));

            assertThat(second.signals)
                    .singleElement()
                    .isInstanceOfSatisfying(
                            StoreUnavailableException.class,
                            error -> assertThat(error.reason()).isEqualTo(Reason.TIMEOUT));
            time.advanceTimeBy(SECOND);
            assertThat(near.applySync("k", strategy.peek(), near.nowMicros()).remaining())
                    .isEqualTo(99);
        } finally {
            VirtualTimeScheduler.reset();
        }
    }

    @Test
    void aStoreThatNeverAnswersFailsItsWaitersAndNothingIsStuck() {
        VirtualTimeScheduler time = VirtualTimeScheduler.getOrSet();
        try {
            Limiter limiter = leased(FixedWindow.of(100, MINUTE), LeaseOptions.batch(10));
            wire.holding = Holding.REQUESTS;
            Heard check = Heard.of(limiter.check("k"));

            time.advanceTimeBy(Duration.ofMillis(250));

            assertThat(check.signals).singleElement().isInstanceOf(StoreUnavailableException.class);
            wire.holding = Holding.NOTHING;
            assertThat(Heard.of(limiter.check("k")).allowed()).isTrue();
        } finally {
            VirtualTimeScheduler.reset();
        }
    }

    @Test
    void doesNotRecurseHoweverManyWait() {
        int many = 100_000;
        LeaseOptions options = LeaseOptions.batch(1).maxWaiters(many).deadline(MINUTE);
        Limiter limiter = leased(FixedWindow.of(many * 10L, MINUTE), options);
        wire.holding = Holding.REQUESTS;
        List<Heard> checks = new ArrayList<>();
        List<Heard> more = new ArrayList<>();
        Mono<Decision> check = limiter.check("k");
        for (int i = 0; i < many; i++) {
            // Each asks once more when it is served.
            Heard heard = new Heard(() -> more.add(Heard.of(check)));
            checks.add(heard);
            check.subscribe(heard);
        }

        wire.releaseAll();

        assertThat(checks).allMatch(Heard::allowed);
        assertThat(more).hasSize(many).allMatch(Heard::allowed);
    }

    @Test
    void aChainOfLeasesDoesNotRecurseEither() {
        Limiter limiter = leased(FixedWindow.of(1_000_000, MINUTE), LeaseOptions.batch(1));
        Mono<Decision> check = limiter.check("k");
        int[] left = {20_000};
        Runnable[] again = new Runnable[1];
        again[0] = () -> {
            if (left[0]-- > 0) {
                check.subscribe(new Heard(again[0]));
            }
        };

        again[0].run();

        assertThat(left[0]).isEqualTo(-1);
    }

    @Test
    void pastTheBoundFurtherWaitersAreTurnedAway() {
        Limiter limiter =
                leased(FixedWindow.of(100, MINUTE), LeaseOptions.batch(10).maxWaiters(2));
        wire.holding = Holding.REQUESTS;

        List<Heard> checks = Heard.times(3, limiter.check("k"));

        assertThat(checks.get(2).signals)
                .singleElement()
                .isInstanceOfSatisfying(
                        StoreUnavailableException.class,
                        error -> assertThat(error.reason()).isEqualTo(Reason.OVERLOADED));
        wire.releaseAll();
        assertThat(checks.subList(0, 2)).allMatch(Heard::allowed);
    }

    @Test
    void refillsInTheBackgroundOnceAndNotInALoop() {
        FixedWindow strategy = FixedWindow.of(22, MINUTE);
        Limiter limiter = leased(strategy, LeaseOptions.batch(10).lowWater(3));
        get(limiter.check("k", 7));
        wire.holding = Holding.REQUESTS;

        assertThat(Heard.times(2, limiter.check("k"))).allMatch(Heard::allowed);
        assertThat(wire.calls).hasValue(2);
        wire.releaseAll();
        assertThat(get(limiter.peek("k")).remaining()).isEqualTo(11);

        get(limiter.check("k", 9));
        // The refill brought two units of ten: there is no more, and nobody asks again.
        assertThat(wire.calls).hasValue(3);
        assertThat(Heard.times(4, limiter.check("k"))).allMatch(Heard::allowed);
        assertThat(wire.calls).hasValue(3);
        assertThat(get(limiter.check("k")).allowed()).isFalse();
    }

    @Test
    void coupledCreditsEndWithTheirWindow() {
        FixedWindow strategy = FixedWindow.of(10, MINUTE);
        Limiter limiter = leased(strategy, LeaseOptions.batch(4).windowCoupled());
        get(limiter.check("k"));

        clock.advance(MINUTE.minusMillis(1));
        assertThat(get(limiter.check("k")).decidedAtMs()).isEqualTo(START / 1000 + 59_999);
        assertThat(wire.calls).hasValue(1);
        clock.advance(Duration.ofMillis(1));

        assertThat(get(limiter.check("k")).resetAtMs()).isEqualTo(START / 1000 + 120_000);
        assertThat(wire.calls).hasValue(2);
        assertThat(used(strategy)).isEqualTo(4);
    }

    @Test
    void theWaiterThatCausedALeaseBelongsToTheWindowOfItsDecision() {
        FixedWindow strategy = FixedWindow.of(10, MINUTE);
        Limiter limiter = leased(strategy, LeaseOptions.batch(4).windowCoupled());
        wire.holding = Holding.REPLIES;
        Heard first = Heard.of(limiter.check("k"));
        Heard second = Heard.of(limiter.check("k"));

        clock.advance(MINUTE);
        wire.releaseAll();

        assertThat(((Decision) first.signals.get(0)).decidedAtMs()).isEqualTo(START / 1000);
        assertThat(((Decision) second.signals.get(0)).decidedAtMs()).isEqualTo(START / 1000 + 60_000);
        assertThat(used(strategy)).isEqualTo(4);
    }

    @Test
    void couplesOnlyToWindowsWithBoundaries() {
        LeaseOptions coupled = LeaseOptions.batch(5).windowCoupled();

        for (Strategy<?> strategy : List.of(
                Gcra.of(10, SECOND),
                TokenBucket.of(10, 1, SECOND),
                SlidingWindow.of(10, SECOND),
                SlidingWindowLog.of(10, SECOND),
                Quota.rolling(10, SECOND))) {
            assertThatThrownBy(() -> TwoTier.leased(strategy, store, coupled))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("windowCoupled needs windows with boundaries")
                    .hasMessageContaining(strategy.name() + " gives units out continuously");
        }
        TwoTier.leased(Quota.monthly(10), store, coupled).build();
    }

    @Test
    void returnsIdleCreditsWithinTheirWindowAndForgetsThemAfter() {
        VirtualTimeScheduler time = VirtualTimeScheduler.getOrSet();
        try {
            FixedWindow strategy = FixedWindow.of(100, MINUTE);
            Clock virtual = Clock.of(Schedulers.parallel());
            MemoryStore near = MemoryStore.builder()
                    .clock(virtual)
                    .sweepInterval(Duration.ZERO)
                    .build();
            LeaseOptions options = LeaseOptions.batch(10).returnIdleAfter(Duration.ofSeconds(5));
            Limiter limiter =
                    TwoTier.leased(strategy, near, options).clock(virtual).build();
            Heard.of(limiter.check("k"));
            time.advanceTimeBy(Duration.ofSeconds(3));
            Heard.of(limiter.check("k"));

            time.advanceTimeBy(Duration.ofMillis(4_999));
            assertThat(near.applySync("k", strategy.peek(), near.nowMicros()).remaining())
                    .isEqualTo(90);
            time.advanceTimeBy(Duration.ofMillis(1));
            assertThat(near.applySync("k", strategy.peek(), near.nowMicros()).remaining())
                    .isEqualTo(98);

            time.advanceTimeBy(Duration.ofSeconds(50));
            Heard.of(limiter.check("k"));
            time.advanceTimeBy(Duration.ofSeconds(10));
            assertThat(near.applySync("k", strategy.peek(), near.nowMicros()).remaining())
                    .isEqualTo(100);
        } finally {
            VirtualTimeScheduler.reset();
        }
    }

    @Test
    void closeReturnsCreditsAlsoThoseOnTheirWay() {
        FixedWindow strategy = FixedWindow.of(100, MINUTE);
        Limiter limiter = leased(strategy, LeaseOptions.batch(10));
        get(limiter.check("k"));
        get(limiter.check("k", 8));
        wire.holding = Holding.REPLIES;
        Heard waiting = Heard.of(limiter.check("k", 5));

        Disposable closing = limiter.close().subscribe();

        assertThat(waiting.signals)
                .singleElement()
                .isInstanceOfSatisfying(
                        StoreUnavailableException.class,
                        error -> assertThat(error.reason()).isEqualTo(Reason.CLOSED));
        wire.releaseAll();
        assertThat(closing.isDisposed()).isTrue();
        assertThat(used(strategy)).isEqualTo(9);
        StepVerifier.create(limiter.check("k"))
                .verifyErrorSatisfies(error ->
                        assertThat(((StoreUnavailableException) error).reason()).isEqualTo(Reason.CLOSED));
        StepVerifier.create(limiter.close()).verifyComplete();
    }

    @Test
    void closeTakesNoLongerThanTheDeadline() {
        VirtualTimeScheduler time = VirtualTimeScheduler.getOrSet();
        try {
            Limiter limiter = leased(FixedWindow.of(100, MINUTE), LeaseOptions.batch(10));
            Heard.of(limiter.check("k"));
            wire.holding = Holding.REQUESTS;

            Disposable closing = limiter.close().subscribe();

            time.advanceTimeBy(Duration.ofMillis(249));
            assertThat(closing.isDisposed()).isFalse();
            time.advanceTimeBy(Duration.ofMillis(1));
            assertThat(closing.isDisposed()).isTrue();
        } finally {
            VirtualTimeScheduler.reset();
        }
    }

    @Test
    void aKeyThatMakesRoomReturnsItsCredits() {
        FixedWindow strategy = FixedWindow.of(100, MINUTE);
        Limiter limiter = TwoTier.leased(strategy, wire, LeaseOptions.batch(10))
                .clock(clock)
                .maxKeys(1)
                .build();
        get(limiter.check("k"));

        get(limiter.check("other"));
        assertThat(used(strategy)).isEqualTo(1);

        wire.holding = Holding.REQUESTS;
        Heard busy = Heard.of(limiter.check("other", 50));
        Heard third = Heard.of(limiter.check("k"));
        wire.releaseAll();

        // The only place is in use: the key is checked strictly.
        assertThat(third.allowed()).isTrue();
        assertThat(busy.allowed()).isTrue();
        assertThat(used(strategy)).isEqualTo(2);
    }

    @Test
    void resetForgetsTheCreditsToo() {
        FixedWindow strategy = FixedWindow.of(100, MINUTE);
        Limiter limiter = leased(strategy, LeaseOptions.batch(10));
        get(limiter.check("k"));

        limiter.reset("k").block();

        assertThat(used(strategy)).isZero();
        assertThat(get(limiter.peek("k")).remaining()).isEqualTo(100);
        assertThat(get(limiter.check("k")).remaining()).isEqualTo(9);
    }

    @Test
    void synchronousCallsAreRefusedInEveryMode() {
        Gcra strategy = Gcra.of(10, SECOND);

        for (Limiter limiter : List.of(
                TwoTier.strict(strategy, store).build(),
                TwoTier.cachedDeny(strategy, store).build(),
                TwoTier.leased(strategy, store, LeaseOptions.batch(5)).build())) {
            assertThatThrownBy(() -> limiter.checkSync("k"))
                    .isInstanceOf(SynchronousAccessException.class)
                    .hasMessage("checkSync cannot wait for a second tier: use the Mono");
            assertThatThrownBy(() -> limiter.resetSync("k")).isInstanceOf(SynchronousAccessException.class);
            assertThatThrownBy(() -> limiter.check("k", 0)).isInstanceOf(IllegalArgumentException.class);
            assertThat(Objects.requireNonNull(
                            limiter.checkMany(List.of("a", "b")).block()))
                    .allMatch(Checked::allowed);
        }
    }

    @Test
    void refusesBadOptions() {
        LeaseOptions options = LeaseOptions.batch(5);

        assertThatThrownBy(() -> LeaseOptions.batch(0)).hasMessageContaining("was 0");
        assertThatThrownBy(() -> options.lowWater(6)).hasMessageContaining("was 6");
        assertThatThrownBy(() -> options.maxWaiters(0)).hasMessageContaining("was 0");
        assertThatThrownBy(() -> options.deadline(Duration.ZERO)).hasMessageContaining("was PT0S");
        assertThatThrownBy(() -> options.returnIdleAfter(Duration.ofNanos(1))).hasMessageContaining("PT0.000000001S");
        assertThatThrownBy(() -> TwoTier.strict(Gcra.of(1, SECOND), store).maxKeys(0))
                .hasMessageContaining("was 0");
    }
}
