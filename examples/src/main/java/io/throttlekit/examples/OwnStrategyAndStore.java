package io.throttlekit.examples;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder.request;

import io.throttlekit.Clock;
import io.throttlekit.Decision;
import io.throttlekit.ManualClock;
import io.throttlekit.Store;
import io.throttlekit.Strategy;
import io.throttlekit.conformance.StoreConformance;
import io.throttlekit.conformance.StrategyConformance;
import io.throttlekit.limiter.Limiter;
import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.stream.Stream;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * A strategy and a store of our own, {@code Cooldown} and {@code MapStore}, at work together and under the tests of
 * {@code throttlekit-conformance}, run by JUnit's launcher.
 *
 * <p>It prints
 *
 * <pre>{@code
 * allowed 3
 * denied for PT3S
 * allowed 1
 * Cooldown: 18 tests, 18 succeeded, 0 failed
 * MapStore: 28 tests, 28 succeeded, 0 failed
 * }</pre>
 */
public final class OwnStrategyAndStore {
    private OwnStrategyAndStore() {}

    /**
     * Runs once and ends.
     *
     * @param args none
     */
    public static void main(String[] args) {
        run(System.out);
    }

    static void run(PrintStream out) {
        ManualClock clock = ManualClock.at(1_759_996_572_738_000L);
        Limiter limiter = Limiter.builder(Cooldown.of(10, Duration.ofSeconds(1)))
                .store(new MapStore(new ConcurrentHashMap<>(), clock))
                .build();
        limiter.check("ann", 3)
                .map(OwnStrategyAndStore::describe)
                .doOnNext(out::println)
                .block();
        limiter.check("ann", 1)
                .map(OwnStrategyAndStore::describe)
                .doOnNext(out::println)
                .block();
        clock.advance(Duration.ofSeconds(3));
        limiter.check("ann", 1)
                .map(OwnStrategyAndStore::describe)
                .doOnNext(out::println)
                .block();
        limiter.close().block();

        conformance("Cooldown", CooldownLaws.class, out);
        conformance("MapStore", MapStoreRules.class, out);
    }

    private static String describe(Decision decision) {
        return decision.allowed() ? "allowed " + decision.granted() : "denied for " + decision.retryAfter();
    }

    /** The laws of a strategy, for ours. In a project this is a class in {@code src/test}. */
    static final class CooldownLaws extends StrategyConformance {
        @Override
        protected Stream<Strategy<?>> strategies() {
            return Stream.of(Cooldown.of(10, Duration.ofMillis(70)), Cooldown.of(1, Duration.ofSeconds(1)));
        }

        @Override
        protected Store open(Clock clock) {
            return new MapStore(new ConcurrentHashMap<>(), clock);
        }
    }

    /** The rules of a store, for ours. */
    static final class MapStoreRules extends StoreConformance {
        private final ManualClock clock = ManualClock.at(1_759_996_572_738_000L);
        private final ConcurrentMap<String, MapStore.Kept> states = new ConcurrentHashMap<>();

        @Override
        protected Store open() {
            return new MapStore(states, clock);
        }

        @Override
        protected Store openBeside(Store first) {
            return new MapStore(states, clock);
        }

        @Override
        protected ManualClock clock() {
            return clock;
        }
    }

    private static void conformance(String name, Class<?> suite, PrintStream out) {
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        // Only these tests, with nothing that the class path would add to them.
        LauncherConfig alone = LauncherConfig.builder()
                .enableLauncherSessionListenerAutoRegistration(false)
                .enableTestExecutionListenerAutoRegistration(false)
                .build();
        LauncherFactory.create(alone)
                .execute(request().selectors(selectClass(suite)).build(), listener);
        TestExecutionSummary summary = listener.getSummary();
        out.println(name + ": " + summary.getTestsFoundCount() + " tests, " + summary.getTestsSucceededCount()
                + " succeeded, " + summary.getTestsFailedCount() + " failed");
        summary.getFailures()
                .forEach(failure -> out.println(failure.getTestIdentifier() + ": " + failure.getException()));
    }
}
