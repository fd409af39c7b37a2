package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualClock;
import io.throttlekit.Store;
import io.throttlekit.Strategy;
import io.throttlekit.Transform;
import io.throttlekit.store.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Thousands of random timelines, decision by decision the same on Redis as in memory. Two hundred keys of a
 * strategy live side by side, each with operations of its own, all asked at once.
 */
class TimelinesTest {
    private static final int KEYS = 200;
    private static final int STEPS = 25;

    static Stream<Strategy<?>> strategies() {
        return ProgramLawsTest.all();
    }

    @ParameterizedTest
    @MethodSource("strategies")
    <S> void decidesAsMemoryDoes(Strategy<S> strategy) {
        Random random = new Random(strategy.limit());
        ManualClock clock = ManualClock.at(1_759_996_572_738_000L + random.nextInt(1_000_000));
        Store memory =
                MemoryStore.builder().clock(clock).sweepInterval(Duration.ZERO).build();
        Store redis = Conformance.SERVER.builder().clock(clock).connections(2).build();
        String run = strategy.name() + "/" + random.nextLong() + "/" + System.nanoTime() + "/";

        for (int step = 0; step < STEPS; step++) {
            clock.advance(advance(strategy, random));
            List<Transform<S, ?>> operations = new ArrayList<>();
            for (int key = 0; key < KEYS; key++) {
                operations.add(operation(strategy, random));
            }

            assertThat(answers(redis, run, operations))
                    .as("step %d at %d us", step, clock.epochMicros())
                    .isEqualTo(answers(memory, run, operations));
        }
        Await.done(redis.close());
        Await.done(memory.close());
    }

    private static <S> List<Object> answers(Store store, String run, List<Transform<S, ?>> operations) {
        return Await.value(Flux.range(0, operations.size())
                .flatMapSequential(key -> answer(store, run + key, operations.get(key)), operations.size())
                .collectList());
    }

    private static <S, R> Mono<Object> answer(Store store, String key, Transform<S, R> operation) {
        return store.apply(key, operation).cast(Object.class);
    }

    private static Duration advance(Strategy<?> strategy, Random random) {
        Duration window = strategy.window();
        long micros = window == null ? 86_400_000_000L : Math.max(1, window.toNanos() / 1_000);
        return Duration.ofNanos(1_000
                * switch (random.nextInt(6)) {
                    case 0 -> 0;
                    case 1 -> random.nextInt(2_000);
                    case 2, 3 -> random.nextLong(2 + 2 * micros / strategy.limit());
                    case 4 -> random.nextLong(1 + micros / 3);
                    default -> random.nextLong(1 + micros);
                });
    }

    private static <S> Transform<S, ?> operation(Strategy<S> strategy, Random random) {
        long cost = cost(strategy.limit(), random);
        return switch (random.nextInt(10)) {
            case 0 -> strategy.peek();
            case 1 -> strategy.forecast(cost);
            case 2, 3 -> strategy.refund(cost, null);
            case 4, 5 -> strategy.check(Math.max(1, cost / 2), cost);
            default -> strategy.check(cost, cost);
        };
    }

    private static long cost(long limit, Random random) {
        return switch (random.nextInt(10)) {
            case 0 -> limit;
            case 1 -> limit + 1;
            case 2, 3 -> 1 + random.nextLong(limit);
            default -> 1 + random.nextLong(Math.max(1, limit / 4));
        };
    }
}
