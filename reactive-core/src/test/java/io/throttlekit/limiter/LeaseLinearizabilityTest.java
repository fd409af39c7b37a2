package io.throttlekit.limiter;

import io.throttlekit.Decision;
import io.throttlekit.ManualClock;
import io.throttlekit.Store;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.FixedWindow;
import java.time.Duration;
import java.util.Objects;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

/**
 * Checks and resets of a leased key are linearizable: served from the open bank, by a lease or by a denial,
 * by whichever thread, they have the outcome of one after the other.
 */
class LeaseLinearizabilityTest {
    private static final long START = 1_759_996_560_000_000L;
    private static final FixedWindow STRATEGY = FixedWindow.of(9, Duration.ofDays(1));

    /** One key of nine units, leased by three. */
    public abstract static class Key {
        private final ManualClock clock = ManualClock.at(START);
        private final Store store =
                MemoryStore.builder().clock(clock).sweepInterval(Duration.ZERO).build();
        private final LeaseTier<?> tier =
                new LeaseTier<>(new Origin<>(STRATEGY, store, ""), LeaseOptions.batch(3), clock, 10);

        /** Takes units; tells which credits are left, or -1 when denied. */
        @SuppressWarnings("ThreadPriorityCheck") // Lincheck's scheduler switches threads at a yield
        long checked(int cost) {
            // Another thread may be the one that hands it over.
            Decision decision =
                    Objects.requireNonNull(tier.check("key", cost, cost).block());
            return decision.allowed() ? decision.remaining() : -1;
        }

        void forgotten() {
            tier.forget("key");
        }
    }

    /** Checks of several costs. */
    @Param(name = "cost", gen = IntGen.class, conf = "1:3")
    public static class Costs extends Key {
        /** Takes units. */
        @Operation
        public long take(@Param(name = "cost") int cost) {
            return checked(cost);
        }
    }

    /**
     * Checks of one unit, and a reset, which gives up the credits. With larger costs it could be seen that a
     * lease was sized before the reset.
     */
    public static class Resets extends Key {
        /** Takes a unit. */
        @Operation
        public long take() {
            return checked(1);
        }

        /** Gives up the credits. */
        @Operation
        public void forget() {
            forgotten();
        }
    }

    @Test
    void checksOfSeveralCostsUnderStress() {
        stress().check(Costs.class);
    }

    @Test
    void checksAndResetsUnderStress() {
        stress().check(Resets.class);
    }

    private static StressOptions stress() {
        return new StressOptions()
                .iterations(6)
                .invocationsPerIteration(250)
                .threads(2)
                .actorsPerThread(3)
                .actorsBefore(1)
                .actorsAfter(2);
    }
}
