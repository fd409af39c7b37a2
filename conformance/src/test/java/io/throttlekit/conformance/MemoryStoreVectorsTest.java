package io.throttlekit.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Clock;
import io.throttlekit.ManualClock;
import io.throttlekit.Store;
import io.throttlekit.conformance.VectorReplay.Report;
import io.throttlekit.store.MemoryStore;
import java.time.Duration;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import reactor.test.StepVerifier;

class MemoryStoreVectorsTest {
    private static final VectorReplay REPLAY = VectorReplay.create();
    private static final long OPERATIONS = 7 * 12 * 40;

    private static MemoryStore store(Clock clock) {
        return MemoryStore.builder().clock(clock).sweepInterval(Duration.ZERO).build();
    }

    private static void replaysAll(Function<Clock, Store> open) {
        StepVerifier.create(REPLAY.replayBundled(open))
                .assertNext(report -> {
                    assertThat(report.differences()).isEmpty();
                    assertThat(report)
                            .extracting(Report::passed, Report::failed)
                            .containsExactly(OPERATIONS, 0L);
                })
                .verifyComplete();
    }

    @Test
    void replaysInCells() {
        replaysAll(MemoryStoreVectorsTest::store);
    }

    @Test
    void replaysInTheGeneralForm() {
        replaysAll(clock -> new FunctionPath(store(clock)));
    }

    @Test
    void replaysWithAnOriginSoFarAwayThatKeysChangeTheirForm() {
        replaysAll(clock -> {
            ManualClock movable = (ManualClock) clock;
            long first = movable.epochMicros();
            movable.set(-4_000_000_000_000_000L);
            MemoryStore store = store(movable);
            movable.set(first);
            return store;
        });
    }
}
