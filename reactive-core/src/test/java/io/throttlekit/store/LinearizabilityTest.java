package io.throttlekit.store;

import io.throttlekit.Decision;
import io.throttlekit.ManualClock;
import io.throttlekit.Strategy;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.TokenBucket;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.StringGen;
import org.junit.jupiter.api.Test;

/**
 * Applies, resets, sweeps and evictions are linearizable: whatever threads do at once has the outcome of
 * doing it one after the other.
 */
class LinearizabilityTest {
    private static final long EARLY = 1_000_000_000_000L;
    private static final long LATE = EARLY + 30 * 3_600_000_000L;
    private static final Strategy<?> CELL = Gcra.of(3, Duration.ofDays(1));
    private static final Strategy<?> SECTION = TokenBucket.of(3, 3, Duration.ofDays(1));

    private static MemoryStore storeOfOneKey() {
        return MemoryStore.builder()
                .clock(ManualClock.at(EARLY))
                .maxKeys(1)
                .wheelSlots(2)
                .sweepInterval(Duration.ZERO)
                .build();
    }

    private static long take(MemoryStore store, Strategy<?> strategy, String key, long now) {
        Decision decision = store.applySync(key, strategy.check(1, 1), now);
        return decision.allowed() ? decision.remaining() : -1;
    }

    /** Keys that are taken from, given back to, forgotten, and that evict each other: there is room for one. */
    @Param(name = "key", gen = StringGen.class, conf = "1:a")
    public abstract static class Keys {
        private final MemoryStore store = storeOfOneKey();
        private final Strategy<?> strategy;

        Keys(Strategy<?> strategy) {
            this.strategy = strategy;
        }

        /** Takes a unit; tells what is left, or -1 when denied. */
        @Operation
        public long take(@Param(name = "key") String key) {
            return LinearizabilityTest.take(store, strategy, key, EARLY);
        }

        /** Gives a unit back. */
        @Operation
        public boolean refund(@Param(name = "key") String key) {
            return store.applySync(key, strategy.refund(1, null), EARLY);
        }

        /** Forgets a key. */
        @Operation
        public void reset(@Param(name = "key") String key) {
            store.resetSync(key);
        }
    }

    /** One key that is taken from early or late, and sweeps, which come when what was taken early has expired. */
    public abstract static class Expiry {
        private final MemoryStore store = storeOfOneKey();
        private final AtomicLong sweepAt = new AtomicLong(LATE);
        private final Strategy<?> strategy;

        Expiry(Strategy<?> strategy) {
            this.strategy = strategy;
            take(store, strategy, "key", EARLY);
        }

        /** Takes a unit when earlier ones have expired: a sweep at the same time may not remove it. */
        @Operation
        public long takeLate() {
            return take(store, strategy, "key", LATE);
        }

        /** Forgets what has expired; a second later each time, so that the wheel turns. */
        @Operation(nonParallelGroup = "sweeper")
        public void sweep() {
            store.keeper.sweep(sweepAt.addAndGet(1_000_000));
        }
    }

    /** Over an instant changed by compare-and-set. */
    public static class CellKeys extends Keys {
        /** For Lincheck. */
        public CellKeys() {
            super(CELL);
        }
    }

    /** Over a state changed in a critical section. */
    public static class SectionKeys extends Keys {
        /** For Lincheck. */
        public SectionKeys() {
            super(SECTION);
        }
    }

    /** Over an instant changed by compare-and-set. */
    public static class CellExpiry extends Expiry {
        /** For Lincheck. */
        public CellExpiry() {
            super(CELL);
        }
    }

    /** Over a state changed in a critical section. */
    public static class SectionExpiry extends Expiry {
        /** For Lincheck. */
        public SectionExpiry() {
            super(SECTION);
        }
    }

    @Test
    void keysOfCellsUnderStress() {
        stress().check(CellKeys.class);
    }

    @Test
    void keysOfSectionsUnderStress() {
        stress().check(SectionKeys.class);
    }

    @Test
    void keysOfCellsInChosenInterleavings() {
        modelChecking(5, 60).check(CellKeys.class);
    }

    @Test
    void expiryOfCellsInChosenInterleavings() {
        modelChecking(12, 150).check(CellExpiry.class);
    }

    @Test
    void expiryOfSectionsInChosenInterleavings() {
        modelChecking(5, 60).check(SectionExpiry.class);
    }

    private static StressOptions stress() {
        return new StressOptions()
                .iterations(5)
                .invocationsPerIteration(300)
                .threads(2)
                .actorsPerThread(3)
                .actorsBefore(1)
                .actorsAfter(1);
    }

    private static ModelCheckingOptions modelChecking(int iterations, int invocations) {
        return new ModelCheckingOptions()
                .iterations(iterations)
                .invocationsPerIteration(invocations)
                .threads(2)
                .actorsPerThread(2)
                .actorsBefore(0)
                .actorsAfter(1);
    }
}
