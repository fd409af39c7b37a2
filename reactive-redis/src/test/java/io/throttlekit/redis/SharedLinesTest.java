package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ExactMicros;
import io.throttlekit.Store;
import io.throttlekit.Transform;
import io.throttlekit.shaping.LeakyBucket;
import io.throttlekit.shaping.Shaper;
import io.throttlekit.strategy.Departure;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Nodes that pace by the same lines. */
class SharedLinesTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    /** Notes the departures that a store hands out. */
    private record Noted(Store store, Map<String, Queue<ExactMicros>> departures) implements Store {
        @Override
        public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
            return store.apply(key, transform).doOnNext(answer -> {
                if (answer instanceof Departure departure && departure.accepted()) {
                    departures
                            .computeIfAbsent(key, k -> new ConcurrentLinkedQueue<>())
                            .add(departure.at());
                }
            });
        }

        @Override
        public Mono<Void> reset(String key) {
            return store.reset(key);
        }

        @Override
        public Mono<Void> close() {
            return store.close();
        }
    }

    private static long thirds(ExactMicros at) {
        return at.whole() * 3 + at.part();
    }

    @Test
    void departuresOfTwoNodesAreNeverCloserThanTheRate() {
        String run = UUID.randomUUID().toString();
        Map<String, Queue<ExactMicros>> departures = new ConcurrentHashMap<>();
        List<Store> nodes = IntStream.range(0, 2)
                .<Store>mapToObj(node -> new Noted(Conformance.SERVER.builder().build(), departures))
                .toList();

        // A unit per 333 1/3 microseconds and key, from 500 elements on each node.
        List<List<Integer>> left = Await.value(Flux.fromIterable(nodes)
                .flatMap(node -> {
                    Shaper shaper = LeakyBucket.of(3_000, SECOND)
                            .maxQueue(MINUTE)
                            .store(node)
                            .build();
                    return Flux.range(0, 500)
                            .transform(shaper.paceBy((Integer n) -> run + n % 3))
                            .collectList();
                })
                .collectList());

        assertThat(left)
                .hasSize(2)
                .allSatisfy(node -> IntStream.range(0, 3)
                        .forEach(key -> assertThat(node)
                                .filteredOn(n -> n % 3 == key)
                                .hasSizeGreaterThan(165)
                                .isSorted()));
        assertThat(departures).hasSize(3);
        departures.values().forEach(line -> {
            List<Long> sorted =
                    line.stream().map(SharedLinesTest::thirds).sorted().toList();
            for (int i = 1; i < sorted.size(); i++) {
                assertThat(sorted.get(i) - sorted.get(i - 1)).isGreaterThanOrEqualTo(1_000);
            }
        });
        nodes.forEach(node -> Await.done(node.close()));
    }

    @ParameterizedTest(name = "programs: {0}")
    @ValueSource(booleans = {true, false})
    void aWaitThatIsCancelledWhileItReservesGivesItsPlaceBack(boolean programs) {
        String key = UUID.randomUUID().toString();
        Store store = Conformance.SERVER.builder().programs(programs).build();
        Shaper shaper = LeakyBucket.of(1, MINUTE).maxQueue(MINUTE).store(store).build();
        Await.value(shaper.reserve(key));

        // Cancelled while the reservation is under way: the place comes back when it is known.
        shaper.schedule(key).subscribe().dispose();

        assertThat(Await.value(shaper.reserve(key)
                                .filter(reservation -> reservation.accepted())
                                .repeatWhenEmpty(again -> again.delayElements(Duration.ofMillis(5)))
                                .timeout(Duration.ofSeconds(10)))
                        .delayMicros())
                .isPositive();
        Await.done(store.close());
    }
}
