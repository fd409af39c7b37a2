package io.throttlekit.http;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.throttlekit.Decision;
import io.throttlekit.FailMode;
import io.throttlekit.StoreUnavailableException;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Counts decisions with Micrometer, which has to be on the class path for this class alone.
 *
 * <ul>
 *   <li>{@code throttlekit.decisions}, a counter: {@code limiter}, and {@code outcome} as {@code allowed},
 *       {@code denied}, {@code denied_dry_run}, {@code failed_open} or {@code failed_closed};
 *   <li>{@code throttlekit.store.latency}, a timer: {@code limiter};
 *   <li>{@code throttlekit.store.errors}, a counter: {@code limiter}, and {@code reason} as in
 *       {@link StoreUnavailableException.Reason}, in lower case.
 * </ul>
 *
 * <p>No tag ever has a key in it: the number of series is that of the limits.
 */
public final class MeteredDecisions implements DecisionListener {
    private final MeterRegistry registry;
    private final ConcurrentMap<String, Meters> meters = new ConcurrentHashMap<>();

    private MeteredDecisions(MeterRegistry registry) {
        this.registry = Objects.requireNonNull(registry, "registry");
    }

    /**
     * A listener that counts.
     *
     * @param registry where the meters are
     * @return a new listener
     */
    public static MeteredDecisions of(MeterRegistry registry) {
        return new MeteredDecisions(registry);
    }

    @Override
    public void decided(String policy, Decision decision, boolean enforced, Duration latency) {
        Meters of = of(policy);
        of.latency.record(latency);
        (decision.allowed() ? of.allowed : enforced ? of.denied : of.deniedDryRun).increment();
    }

    @Override
    public void undecided(String policy, StoreUnavailableException error, FailMode failMode, Duration latency) {
        Meters of = of(policy);
        of.latency.record(latency);
        (failMode == FailMode.OPEN ? of.failedOpen : of.failedClosed).increment();
        registry.counter(
                        "throttlekit.store.errors",
                        "limiter",
                        policy,
                        "reason",
                        error.reason().name().toLowerCase(Locale.ROOT))
                .increment();
    }

    private Meters of(String policy) {
        Meters known = meters.get(policy);
        return known == null ? meters.computeIfAbsent(policy, name -> new Meters(registry, name)) : known;
    }

    private static final class Meters {
        private final Timer latency;
        private final Counter allowed;
        private final Counter denied;
        private final Counter deniedDryRun;
        private final Counter failedOpen;
        private final Counter failedClosed;

        Meters(MeterRegistry registry, String policy) {
            latency = registry.timer("throttlekit.store.latency", "limiter", policy);
            allowed = outcome(registry, policy, "allowed");
            denied = outcome(registry, policy, "denied");
            deniedDryRun = outcome(registry, policy, "denied_dry_run");
            failedOpen = outcome(registry, policy, "failed_open");
            failedClosed = outcome(registry, policy, "failed_closed");
        }

        private static Counter outcome(MeterRegistry registry, String policy, String outcome) {
            return registry.counter("throttlekit.decisions", "limiter", policy, "outcome", outcome);
        }
    }
}
