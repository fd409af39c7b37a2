package io.throttlekit.examples.soak;

import io.throttlekit.Decision;
import io.throttlekit.FailMode;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.http.DecisionListener;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/** Hears what both servers over one store decide, and checks that it stays within the bounds and comes in time. */
final class Ledger implements DecisionListener {
    private static final long GRACE_NANOS = Duration.ofMillis(100).toNanos();

    final LongAdder allowed = new LongAdder();
    final LongAdder denied = new LongAdder();
    final LongAdder undecided = new LongAdder();
    final AtomicLong slowestNanos = new AtomicLong();

    private final String store;
    private final long deadlineNanos;
    private final Pauses pauses;
    private final Map<String, ? extends Bound> bounds;
    private final Consumer<String> violations;

    Ledger(
            String store,
            Duration deadline,
            Pauses pauses,
            Map<String, ? extends Bound> bounds,
            Consumer<String> violations) {
        this.store = store;
        this.deadlineNanos = deadline.toNanos();
        this.pauses = pauses;
        this.bounds = bounds;
        this.violations = violations;
    }

    /** Forgets how slow it was while the JVM was cold. */
    void warm() {
        slowestNanos.set(0);
    }

    @Override
    public void decided(String policy, Decision decision, boolean enforced, Duration latency) {
        inTime(policy, latency);
        if (decision.allowed()) {
            allowed.increment();
            Objects.requireNonNull(bounds.get(policy), policy).allowed(decision);
        } else {
            denied.increment();
        }
    }

    @Override
    public void undecided(String policy, StoreUnavailableException error, FailMode failMode, Duration latency) {
        inTime(policy, latency);
        undecided.increment();
    }

    private void inTime(String policy, Duration latency) {
        long nanos = latency.toNanos();
        slowestNanos.accumulateAndGet(nanos, Math::max);
        if (nanos > deadlineNanos + GRACE_NANOS && nanos > deadlineNanos + GRACE_NANOS + pauses.within(nanos)) {
            violations.accept(store + ", " + policy + ": answered after " + latency.toMillis() + " ms");
        }
    }
}
