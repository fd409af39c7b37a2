package io.throttlekit.shaping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.Clock;
import io.throttlekit.ManualClock;
import io.throttlekit.QueueFullException;
import io.throttlekit.Store;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.SynchronousAccessException;
import io.throttlekit.store.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;
import reactor.test.subscriber.TestSubscriber;

class ShaperTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration HALF = Duration.ofMillis(500);

    private final ManualClock clock = ManualClock.at(1_759_996_572_738_000L);

    private static LeakyBucket.Builder twoPerSecond() {
        return LeakyBucket.of(2, SECOND).maxQueue(SECOND);
    }

    private static <T> T get(Mono<T> mono) {
        return Objects.requireNonNull(mono.block(SECOND));
    }

    @Test
    void reservesWithoutWaiting() {
        Shaper shaper = twoPerSecond().clock(clock).build();

        List<Reservation> reservations =
                IntStream.range(0, 4).mapToObj(i -> get(shaper.reserve("k"))).toList();

        assertThat(reservations).extracting(Reservation::delayMs).containsExactly(0L, 500L, 1000L, 500L);
        assertThat(reservations).extracting(Reservation::accepted).containsExactly(true, true, true, false);
        assertThat(reservations.get(1).delay()).isEqualTo(HALF);
    }

    @Test
    void roundsDelaysUp() {
        Shaper shaper = LeakyBucket.perSecond(0.7)
                .maxQueue(SECOND.multipliedBy(2))
                .clock(clock)
                .build();
        shaper.reserveSync("k");

        Reservation next = shaper.reserveSync("k");

        // 10/7 of a second
        assertThat(next.delayMicros()).isEqualTo(1_428_572);
        assertThat(next.delayMs()).isEqualTo(1_429);
        assertThat(next.departure().part()).isPositive();
    }

    @Test
    void holdsUpWhoComesNextByTheCost() {
        Shaper shaper = twoPerSecond().clock(clock).build();

        Reservation both = shaper.reserveSync("k", 2);

        assertThat(both.delayMicros()).isZero();
        assertThat(both.cost()).isEqualTo(2);
        assertThat(shaper.reserveSync("k").delayMs()).isEqualTo(1000);
    }

    @Test
    void withNoQueueDepartsAtOnceOrNotAtAll() {
        Shaper shaper =
                LeakyBucket.of(2, SECOND).maxQueue(Duration.ZERO).clock(clock).build();

        assertThat(shaper.reserveSync("k").accepted()).isTrue();
        assertThat(shaper.reserveSync("k").accepted()).isFalse();
        clock.advance(HALF);
        assertThat(shaper.reserveSync("k").accepted()).isTrue();
    }

    @Test
    void assemblingReservesNothingAndEachSubscriptionReservesOnce() {
        Shaper shaper = twoPerSecond().clock(clock).build();

        Mono<Reservation> reserve = shaper.reserve("k");

        assertThat(get(reserve).delayMs()).isZero();
        assertThat(get(reserve).delayMs()).isEqualTo(500);
    }

    @Test
    void keepsKeysAndPrefixesApart() {
        MemoryStore store = MemoryStore.builder().clock(clock).build();
        Shaper one = twoPerSecond().store(store).prefix("one").build();
        Shaper two = twoPerSecond().store(store).prefix("two").build();

        one.reserveSync("k");

        assertThat(two.reserveSync("k").delayMs()).isZero();
        assertThat(one.reserveSync("l").delayMs()).isZero();
        assertThat(one.reserveSync("k").delayMs()).isEqualTo(500);
    }

    @Test
    void resetMakesALineAsIfNeverUsed() {
        Shaper shaper = twoPerSecond().clock(clock).build();
        shaper.reserveSync("k");

        StepVerifier.create(shaper.reset("k")).verifyComplete();

        assertThat(shaper.reserveSync("k").delayMs()).isZero();
    }

    @Test
    void closesItsOwnStoreAndNoOther() {
        MemoryStore store = MemoryStore.create();
        Shaper given = twoPerSecond().store(store).build();
        Shaper own = twoPerSecond().build();

        StepVerifier.create(given.close().then(own.close())).verifyComplete();

        assertThat(given.reserveSync("k").accepted()).isTrue();
        StepVerifier.create(own.schedule("k")).verifyError(StoreUnavailableException.class);
        StepVerifier.create(Mono.just(1).transform(own.pace("k"))).verifyError(StoreUnavailableException.class);
    }

    @Test
    void refusesABadBuilderAndBadArguments() {
        Shaper shaper = twoPerSecond().build();

        assertThatThrownBy(() -> LeakyBucket.of(1, SECOND).build()).hasMessageContaining("maxQueue must be given");
        assertThatThrownBy(() -> LeakyBucket.of(0, SECOND)).hasMessageContaining("rate must be more than 0");
        assertThatThrownBy(() -> LeakyBucket.perSecond(Double.NaN)).hasMessageContaining("finite");
        assertThatThrownBy(() -> twoPerSecond().prefix("a:b")).hasMessageContaining("prefix must match");
        assertThatThrownBy(() ->
                        twoPerSecond().clock(clock).store(MemoryStore.create()).build())
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> shaper.reserve("k", 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> shaper.schedule("k", -1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Pacing.failWhenFull().ahead(0)).hasMessageContaining("ahead must be");
    }

    @Test
    void refusesToAnswerNowOverARemoteStore() {
        Shaper shaper = twoPerSecond()
                .store(LateStore.onItsOwnThread(MemoryStore.create()))
                .build();

        assertThatThrownBy(() -> shaper.reserveSync("k")).isInstanceOf(SynchronousAccessException.class);
    }

    @Test
    void completesAtItsDeparture() {
        Shaper shaper = twoPerSecond().build();

        StepVerifier.withVirtualTime(() -> Flux.merge(
                        shaper.schedule("k").thenReturn(1), shaper.schedule("k").thenReturn(2)))
                .expectNext(1)
                .expectNoEvent(HALF)
                .expectNext(2)
                .verifyComplete();
    }

    @Test
    void virtualTimeIsTheDefaultWhereverTheShaperIsMade() {
        StepVerifier.withVirtualTime(() -> {
                    Shaper shaper = twoPerSecond().build();
                    return shaper.schedule("k").then(shaper.schedule("k"));
                })
                .expectSubscription()
                .expectNoEvent(HALF)
                .verifyComplete();
    }

    @Test
    void waitsOnTheSchedulerItWasGiven() {
        VirtualTimeScheduler scheduler = VirtualTimeScheduler.create();
        Shaper shaper = twoPerSecond().scheduler(scheduler).build();
        shaper.reserveSync("k");
        TestSubscriber<Void> waiting = TestSubscriber.create();
        shaper.schedule("k").subscribe(waiting);

        scheduler.advanceTimeBy(Duration.ofMillis(499));
        assertThat(waiting.isTerminated()).isFalse();
        scheduler.advanceTimeBy(Duration.ofMillis(1));

        assertThat(waiting.isTerminatedComplete()).isTrue();
    }

    @Test
    void doesNotHopWhenThereIsNothingToWaitFor() {
        Shaper shaper = twoPerSecond().build();
        AtomicReference<@Nullable Thread> completedOn = new AtomicReference<>();

        shaper.schedule("k")
                .doFinally(signal -> completedOn.set(Thread.currentThread()))
                .subscribe();

        assertThat(completedOn).hasValue(Thread.currentThread());
    }

    @Test
    void leavesTheStoresThreadForItsScheduler() {
        Shaper shaper = twoPerSecond()
                .store(LateStore.onItsOwnThread(MemoryStore.create()))
                .build();

        List<String> threads = get(Flux.merge(
                        shaper.schedule("k")
                                .materialize()
                                .map(s -> Thread.currentThread().getName()),
                        shaper.schedule("broken")
                                .materialize()
                                .map(s -> Thread.currentThread().getName()),
                        Mono.just(1)
                                .transform(shaper.pace("l"))
                                .map(s -> Thread.currentThread().getName()))
                .collectList());

        assertThat(threads).hasSize(3).allMatch(name -> name.startsWith("parallel"));
    }

    @Test
    void failsAtOnceWhenTheQueueIsFull() {
        Shaper shaper = twoPerSecond().clock(clock).build();
        shaper.reserveSync("k", 5);

        StepVerifier.create(shaper.schedule("k"))
                .expectErrorSatisfies(e -> assertThat(e)
                        .isInstanceOfSatisfying(
                                QueueFullException.class,
                                full -> assertThat(full.retryAfter()).isEqualTo(Duration.ofMillis(1500))))
                .verify();
    }

    @Test
    void waitsLongerThanATimerHolds() {
        Duration century = Duration.ofDays(36_500);
        Shaper shaper = LeakyBucket.of(1, century).maxQueue(Duration.ofDays(10)).build();

        StepVerifier.withVirtualTime(() -> {
                    VirtualTimeScheduler.get().advanceTimeBy(century.minusDays(9));
                    return shaper.schedule("k");
                })
                .verifyComplete();
        Shaper daily = LeakyBucket.of(1, Duration.ofDays(9))
                .maxQueue(Duration.ofDays(10))
                .build();
        StepVerifier.withVirtualTime(() -> daily.schedule("k").then(daily.schedule("k")))
                .expectSubscription()
                .expectNoEvent(Duration.ofDays(9))
                .verifyComplete();
        StepVerifier.withVirtualTime(() -> Flux.range(0, 2).transform(daily.pace("l")))
                .expectNext(0)
                .expectNoEvent(Duration.ofDays(9))
                .expectNext(1)
                .verifyComplete();
    }

    @Test
    void aCancelledWaitGivesItsPlaceBack() {
        VirtualTimeScheduler scheduler = VirtualTimeScheduler.create();
        Shaper shaper = twoPerSecond().scheduler(scheduler).build();
        shaper.reserveSync("k");
        Disposable waiting = shaper.schedule("k").subscribe();

        waiting.dispose();
        waiting.dispose();

        assertThat(shaper.reserveSync("k").delayMs()).isEqualTo(500);
        assertThat(scheduler.getScheduledTaskCount()).isLessThanOrEqualTo(1);
    }

    @Test
    void aWaitThatIsCancelledInTheMiddleLeavesAGap() {
        VirtualTimeScheduler scheduler = VirtualTimeScheduler.create();
        Shaper shaper = twoPerSecond().scheduler(scheduler).build();
        List<String> order = new ArrayList<>();
        shaper.reserveSync("k");
        Disposable middle = shaper.schedule("k").subscribe(v -> {}, e -> {}, () -> order.add("middle"));
        shaper.schedule("k").subscribe(v -> {}, e -> {}, () -> order.add("last"));

        middle.dispose();
        scheduler.advanceTimeBy(Duration.ofMillis(999));
        assertThat(order).isEmpty();
        scheduler.advanceTimeBy(Duration.ofMillis(1));

        assertThat(order).containsExactly("last");
    }

    @Test
    void aWaitThatIsCancelledWhileItReservesGivesItsPlaceBackWhenItIsKnown() {
        VirtualTimeScheduler scheduler = VirtualTimeScheduler.getOrSet();
        try {
            Store store = MemoryStore.builder().clock(Clock.of(scheduler)).build();
            Shaper shaper = twoPerSecond()
                    .store(LateStore.after(Duration.ofMillis(5), store))
                    .build();
            Shaper near = twoPerSecond().store(store).build();
            near.reserveSync("k");

            shaper.schedule("k").subscribe().dispose();
            scheduler.advanceTimeBy(Duration.ofMillis(20));

            assertThat(near.reserveSync("k").delayMs()).isEqualTo(480);
        } finally {
            VirtualTimeScheduler.reset();
        }
    }

    @Test
    void tenThousandCancelledWaitsLeaveTheLineWhereItWas() {
        Shaper shaper = twoPerSecond().clock(clock).build();
        shaper.reserveSync("k");

        for (int i = 0; i < 10_000; i++) {
            shaper.schedule("k").subscribe().dispose();
        }

        assertThat(shaper.reserveSync("k").delayMs()).isEqualTo(500);
    }

    @Test
    void givesAReservationBackOnce() {
        Shaper shaper = twoPerSecond().clock(clock).build();
        shaper.reserveSync("k");
        Reservation first = shaper.reserveSync("k");

        assertThat(get(shaper.cancel(first))).isTrue();
        Reservation again = shaper.reserveSync("k");
        assertThat(get(shaper.cancel(first))).isFalse();

        assertThat(again.delayMs()).isEqualTo(500);
        assertThat(shaper.reserveSync("k").delayMs()).isEqualTo(1000);
    }

    @Test
    void aDisposedSchedulerIsAnError() {
        Scheduler scheduler = Schedulers.newSingle("gone", true);
        Shaper shaper = twoPerSecond().scheduler(scheduler).clock(clock).build();
        scheduler.dispose();
        shaper.reserveSync("k");

        StepVerifier.create(shaper.schedule("k")).verifyError(RejectedExecutionException.class);
        StepVerifier.create(Flux.just(1).transform(shaper.pace("k"))).verifyError(RejectedExecutionException.class);

        assertThat(shaper.reserveSync("k").delayMs()).isEqualTo(500);
    }

    @Test
    void pacesMicroseconds() throws InterruptedException {
        Shaper shaper = LeakyBucket.of(5_000, SECOND).maxQueue(SECOND).build();
        int waits = 1_000;
        CountDownLatch done = new CountDownLatch(waits);
        long start = System.nanoTime();
        long[] late = new long[waits];

        for (int i = 0; i < waits; i++) {
            int n = i;
            shaper.schedule("k").subscribe(v -> {}, e -> {}, () -> {
                late[n] = System.nanoTime() - start - n * 200_000L;
                done.countDown();
            });
        }

        assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();
        // The line begins at the first reservation, which is after start: never early, by more than a microsecond.
        assertThat(LongStream.of(late).min().orElseThrow()).isGreaterThan(-1_000);
    }
}
