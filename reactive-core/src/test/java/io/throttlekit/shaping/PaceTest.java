package io.throttlekit.shaping;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Clock;
import io.throttlekit.QueueFullException;
import io.throttlekit.Store;
import io.throttlekit.store.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;
import reactor.test.scheduler.VirtualTimeScheduler;
import reactor.util.function.Tuple2;

class PaceTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration TENTH = Duration.ofMillis(100);
    private static final Duration LONG = Duration.ofHours(1);

    private static LeakyBucket.Builder tenPerSecond() {
        return LeakyBucket.of(10, SECOND).maxQueue(LONG);
    }

    private static Store remote(Duration latency) {
        return LateStore.after(
                latency,
                MemoryStore.builder()
                        .clock(Clock.of(VirtualTimeScheduler.get()))
                        .build());
    }

    @Test
    void letsElementsLeaveOneByOne() {
        Shaper shaper = tenPerSecond().build();

        StepVerifier.withVirtualTime(() -> Flux.range(1, 3).transform(shaper.pace("k")))
                .expectNext(1)
                .expectNoEvent(TENTH)
                .expectNext(2)
                .expectNoEvent(TENTH)
                .expectNext(3)
                .verifyComplete();
    }

    @Test
    void letsElementsOverARemoteStoreLeaveOneByOne() {
        StepVerifier.withVirtualTime(() -> Flux.range(1, 3)
                        .transform(tenPerSecond()
                                .store(remote(Duration.ofMillis(2)))
                                .build()
                                .pace("k"))
                        .elapsed()
                        .map(Tuple2::getT1))
                .thenAwait(SECOND)
                // One reservation after the other: each answer is 2 ms old, and no departure is early.
                .expectNext(2L, 100L, 100L)
                .verifyComplete();
    }

    @Test
    void delaysAMonoAndKeepsItOne() {
        Shaper shaper = tenPerSecond().build();

        StepVerifier.withVirtualTime(() -> {
                    shaper.reserveSync("k");
                    Mono<Integer> paced = Mono.just(7).transform(shaper.pace("k"));
                    return paced;
                })
                .expectSubscription()
                .expectNoEvent(TENTH)
                .expectNext(7)
                .verifyComplete();
        StepVerifier.create(Mono.empty().transform(shaper.pace("k"))).verifyComplete();
    }

    @Test
    void takesCostsAndKeysOfElements() {
        Shaper shaper = tenPerSecond().build();

        StepVerifier.withVirtualTime(() -> Flux.just("a3", "a1", "b2", "b1")
                        .transform(shaper.paceBy(s -> s.substring(0, 1), s -> s.charAt(1) - '0')))
                .expectNext("a3", "b2")
                .expectNoEvent(TENTH.multipliedBy(2))
                .expectNext("b1")
                .expectNoEvent(TENTH)
                .expectNext("a1")
                .verifyComplete();
    }

    @Test
    void catchesUpWithoutDrift() {
        List<Long> at = new ArrayList<>();

        StepVerifier.withVirtualTime(() -> Flux.range(0, 20)
                        .transform(tenPerSecond().build().pace("k"))
                        .doOnNext(n -> {
                            at.add(Schedulers.parallel().now(TimeUnit.MILLISECONDS));
                            if (n == 5) {
                                // Whoever is downstream holds everything up for a while.
                                VirtualTimeScheduler.get().advanceTimeBy(Duration.ofMillis(350));
                            }
                        }))
                .thenAwait(Duration.ofSeconds(3))
                .expectNextCount(20)
                .verifyComplete();

        assertThat(at.subList(0, 6)).containsExactly(0L, 100L, 200L, 300L, 400L, 500L);
        assertThat(at.subList(10, 20))
                .containsExactly(IntStream.range(10, 20).mapToObj(n -> n * 100L).toArray(Long[]::new));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void neverLeavesEarlyAndKeepsTheOrderOfEachKey(boolean remote) {
        Map<String, Integer> lastOf = new HashMap<>();
        Map<String, Long> lastAt = new HashMap<>();
        Random random = new Random(3);

        StepVerifier.withVirtualTime(() -> {
                    LeakyBucket.Builder builder = LeakyBucket.of(100, SECOND).maxQueue(LONG);
                    Shaper shaper = (remote ? builder.store(remote(Duration.ofMillis(3))) : builder).build();
                    return Flux.range(0, 1_000)
                            .concatMap(n -> random.nextInt(5) == 0
                                    ? Mono.delay(Duration.ofMillis(random.nextInt(40)))
                                            .thenReturn(n)
                                    : Mono.just(n))
                            .transform(shaper.paceBy((Integer n) -> "k" + (n * 7919 / 3) % 3))
                            .doOnNext(n -> {
                                String key = "k" + (n * 7919 / 3) % 3;
                                long now = Schedulers.parallel().now(TimeUnit.MILLISECONDS);
                                assertThat(lastOf.getOrDefault(key, -1)).isLessThan(n);
                                assertThat(now - lastAt.getOrDefault(key, -10L)).isGreaterThanOrEqualTo(10);
                                lastOf.put(key, n);
                                lastAt.put(key, now);
                            });
                })
                .thenAwait(Duration.ofMinutes(10))
                .expectNextCount(1_000)
                .verifyComplete();

        assertThat(lastOf).hasSize(3);
    }

    @Test
    void keepsTheOrderWhenALineIsResetMeanwhile() {
        Shaper shaper = tenPerSecond().build();
        Sinks.Many<Integer> source = Sinks.many().unicast().onBackpressureBuffer();

        StepVerifier.withVirtualTime(() -> source.asFlux().transform(shaper.pace("k")))
                .then(() -> IntStream.range(0, 4).forEach(source::tryEmitNext))
                .expectNext(0)
                .then(() -> shaper.reset("k").subscribe())
                .then(() -> IntStream.range(4, 6).forEach(source::tryEmitNext))
                .thenAwait(Duration.ofMillis(299))
                .expectNext(1, 2)
                .thenAwait(Duration.ofMillis(1))
                .expectNext(3, 4, 5)
                .then(source::tryEmitComplete)
                .verifyComplete();
    }

    @Test
    void asksForNoMoreThanDemandAndReservesNoMore() {
        Shaper shaper = tenPerSecond().build();
        AtomicLong asked = new AtomicLong();

        StepVerifier.withVirtualTime(
                        () -> Flux.range(0, 1_000)
                                .hide()
                                .doOnRequest(asked::addAndGet)
                                .transform(shaper.pace("k")),
                        3)
                .thenAwait(Duration.ofSeconds(5))
                .expectNext(0, 1, 2)
                .then(() -> assertThat(asked).hasValue(3))
                .thenRequest(1)
                .expectNext(3)
                .then(() -> assertThat(asked).hasValue(4))
                .then(() -> assertThat(shaper.reserveSync("k").delayMs()).isEqualTo(100))
                .thenCancel()
                .verify();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 8, 64, 200})
    void holdsNoMoreThanItMayReserveAhead(int ahead) {
        Shaper shaper = tenPerSecond().build();
        AtomicLong asked = new AtomicLong();
        AtomicLong left = new AtomicLong();

        StepVerifier.withVirtualTime(() -> Flux.range(0, 500)
                        .hide()
                        .doOnRequest(asked::addAndGet)
                        .transform(
                                shaper.pace("k", Pacing.<Integer>failWhenFull().ahead(ahead)))
                        .doOnNext(n ->
                                assertThat(asked.get() - left.getAndIncrement()).isLessThanOrEqualTo(ahead)))
                .thenAwait(Duration.ofSeconds(60))
                .expectNextCount(500)
                .verifyComplete();
    }

    @Test
    void failsAfterTheLastDepartureWhenTheQueueIsFull() {
        Shaper shaper = LeakyBucket.of(2, SECOND).maxQueue(SECOND).build();
        AtomicInteger cancelled = new AtomicInteger();

        StepVerifier.withVirtualTime(() -> Flux.range(0, 10)
                        .concatWith(Mono.never())
                        .doOnCancel(cancelled::incrementAndGet)
                        .transform(shaper.pace("k")))
                .expectNext(0)
                .then(() -> assertThat(cancelled).hasValue(1))
                .expectNoEvent(Duration.ofMillis(500))
                .expectNext(1)
                .expectNoEvent(Duration.ofMillis(500))
                .expectNext(2)
                .verifyErrorSatisfies(
                        e -> assertThat(((QueueFullException) e).retryAfter()).isEqualTo(Duration.ofMillis(500)));
    }

    @Test
    void dropsWhatMeetsAFullQueue() {
        Shaper shaper = LeakyBucket.of(2, SECOND).maxQueue(SECOND).build();
        List<Integer> dropped = new ArrayList<>();

        StepVerifier.withVirtualTime(
                        () -> Flux.range(0, 200).transform(shaper.pace("k", Pacing.dropWhenFull(dropped::add))))
                .thenAwait(SECOND)
                .expectNext(0, 1, 2)
                .verifyComplete();

        assertThat(dropped).hasSize(197).startsWith(3, 4).endsWith(199);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void waitsForRoom(boolean remote) {
        StepVerifier.withVirtualTime(() -> {
                    LeakyBucket.Builder builder = LeakyBucket.of(10, SECOND).maxQueue(Duration.ofMillis(250));
                    Shaper shaper = (remote ? builder.store(remote(Duration.ofMillis(1))) : builder).build();
                    return Flux.range(0, 50).transform(shaper.pace("k", Pacing.waitWhenFull()));
                })
                .thenAwait(Duration.ofSeconds(6))
                .expectNextSequence(IntStream.range(0, 50).boxed().toList())
                .verifyComplete();
    }

    @Test
    void waitsForRoomWithoutAQueue() {
        Shaper shaper = LeakyBucket.of(10, SECOND).maxQueue(Duration.ZERO).build();

        StepVerifier.withVirtualTime(() -> Flux.range(0, 3).transform(shaper.pace("k", Pacing.waitWhenFull())))
                .expectNext(0)
                .expectNoEvent(TENTH)
                .expectNext(1)
                .expectNoEvent(TENTH)
                .expectNext(2)
                .verifyComplete();
    }

    @Test
    void endsRightAfterTheLastElement() {
        Shaper shaper = tenPerSecond().build();

        StepVerifier.withVirtualTime(() -> Flux.just(1, 2)
                        .concatWith(Mono.error(new IllegalStateException("boom")))
                        .transform(shaper.pace("k")))
                .expectNext(1)
                .expectNoEvent(TENTH)
                .expectNext(2)
                .verifyErrorMessage("boom");
        StepVerifier.create(Flux.empty().transform(shaper.pace("l"))).verifyComplete();
    }

    @Test
    void aFunctionThatThrowsOrAStoreThatFailsEndsItAfterTheDepartures() {
        StepVerifier.withVirtualTime(() ->
                        Flux.just(1, 1, 0, 1).transform(tenPerSecond().build().paceBy(n -> "k" + 1 / n)))
                .expectNext(1)
                .expectNoEvent(TENTH)
                .expectNext(1)
                .verifyError(ArithmeticException.class);
        StepVerifier.withVirtualTime(() -> Flux.just("k", "k", "broken", "k", "k")
                        .transform(tenPerSecond()
                                .store(remote(Duration.ofMillis(1)))
                                .build()
                                .paceBy((String s) -> s)))
                .thenAwait(SECOND)
                .expectNext("k")
                .verifyErrorMessage("the store is broken");
    }

    @Test
    void cancellingStopsTheTimerAndGivesPlacesBack() {
        VirtualTimeScheduler scheduler = VirtualTimeScheduler.create();
        Shaper shaper = tenPerSecond().scheduler(scheduler).build();
        List<Integer> left = new ArrayList<>();
        List<Object> discarded = new ArrayList<>();
        Disposable paced = Flux.range(0, 1_000)
                .transform(shaper.pace("k"))
                .doOnDiscard(Integer.class, discarded::add)
                .subscribe(left::add);

        paced.dispose();
        scheduler.advanceTimeBy(SECOND.multipliedBy(100));

        assertThat(left).containsExactly(0);
        assertThat(discarded).hasSize(63);
        assertThat(shaper.reserveSync("k").delayMs()).isZero();
    }

    @Test
    void cancellingGivesBackTheNewestPlaceOnlyUpToAStrangers() {
        VirtualTimeScheduler scheduler = VirtualTimeScheduler.create();
        Shaper shaper = tenPerSecond().scheduler(scheduler).build();
        TestPublisher<Integer> source = TestPublisher.create();
        Disposable paced = source.flux().transform(shaper.pace("k")).subscribe();
        source.next(0, 1);
        shaper.reserveSync("k");
        source.next(2, 3);

        paced.dispose();

        source.assertCancelled();
        assertThat(shaper.reserveSync("k").delayMs()).isEqualTo(300);
    }

    @Test
    void cancellingOverARemoteStoreGivesPlacesBackThatAreNotKnownYet() {
        VirtualTimeScheduler scheduler = VirtualTimeScheduler.getOrSet();
        try {
            Store store = MemoryStore.builder().clock(Clock.of(scheduler)).build();
            Shaper near = tenPerSecond().store(store).build();
            Shaper far = tenPerSecond()
                    .store(LateStore.after(Duration.ofMillis(5), store))
                    .build();
            near.reserveSync("k");
            Disposable paced = Flux.range(0, 10).transform(far.pace("k")).subscribe();
            scheduler.advanceTimeBy(Duration.ofMillis(12));

            paced.dispose();
            scheduler.advanceTimeBy(Duration.ofMillis(48));

            assertThat(near.reserveSync("k").delayMs()).isEqualTo(40);
        } finally {
            VirtualTimeScheduler.reset();
        }
    }

    @Test
    void tenThousandCancelledSubscriptionsLeaveTheLineWhereItWas() {
        VirtualTimeScheduler scheduler = VirtualTimeScheduler.create();
        Shaper shaper = tenPerSecond().scheduler(scheduler).build();
        shaper.reserveSync("k");

        for (int i = 0; i < 10_000; i++) {
            Flux.just(1, 2, 3).transform(shaper.pace("k")).subscribe().dispose();
        }

        assertThat(shaper.reserveSync("k").delayMs()).isEqualTo(100);
    }

    @Test
    void staysOnTheSourcesThreadWhenThereIsNothingToWaitFor() {
        Shaper shaper = LeakyBucket.of(1_000_000_000, SECOND).maxQueue(LONG).build();
        Thread here = Thread.currentThread();
        AtomicInteger elsewhere = new AtomicInteger();

        StepVerifier.create(Flux.range(0, 1_000)
                        .hide()
                        .transform(shaper.pace("k"))
                        .doOnNext(n -> elsewhere.addAndGet(Thread.currentThread() == here ? 0 : 1)))
                .expectNextCount(1_000)
                .verifyComplete();

        assertThat(elsewhere).hasValue(0);
    }

    /** Two nodes over one line, by the instants they were given: the real thing, with real threads. */
    @Test
    void twoNodesOverOneStoreNeverDepartCloserThanTheRate() {
        MemoryStore store = MemoryStore.create();
        ConcurrentLinkedQueue<Reservation> given = new ConcurrentLinkedQueue<>();
        List<Shaper> nodes = IntStream.range(0, 2)
                .mapToObj(n -> LeakyBucket.of(3_000, SECOND)
                        .maxQueue(LONG)
                        .store(store)
                        .build())
                .toList();

        Flux<Reservation> both = Flux.fromIterable(nodes)
                .flatMap(node -> Flux.range(0, 500)
                        .flatMap(i -> node.reserve("k" + i % 3).subscribeOn(Schedulers.parallel()), 4));

        StepVerifier.create(both.doOnNext(given::add).then()).verifyComplete();
        Map<String, List<Reservation>> byKey = new HashMap<>();
        given.forEach(
                r -> byKey.computeIfAbsent(r.key(), k -> new ArrayList<>()).add(r));
        assertThat(byKey).hasSize(3);
        byKey.values().forEach(PaceTest::assertApart);
    }

    private static void assertApart(List<Reservation> line) {
        line.sort(Comparator.comparing((Reservation r) -> r.departure().whole())
                .thenComparing(r -> r.departure().part()));
        for (int i = 1; i < line.size(); i++) {
            // 1000/3 microseconds, in thirds.
            assertThat(thirds(line.get(i)) - thirds(line.get(i - 1))).isGreaterThanOrEqualTo(1000);
        }
    }

    private static long thirds(Reservation reservation) {
        return Objects.requireNonNull(reservation).departure().whole() * 3
                + reservation.departure().part();
    }

    @Test
    void twoPacedNodesShareOneRate() {
        StepVerifier.withVirtualTime(() -> {
                    Store store = remote(Duration.ofMillis(1));
                    Flux<Integer> node = Flux.range(0, 50)
                            .transform(tenPerSecond().store(store).build().pace("k"));
                    return Flux.merge(node, node).elapsed().map(Tuple2::getT1).skip(1);
                })
                .thenAwait(Duration.ofSeconds(11))
                .thenConsumeWhile(gap -> {
                    assertThat(gap).isEqualTo(100);
                    return true;
                })
                .verifyComplete();
    }
}
