package io.throttlekit.http;

import io.throttlekit.FailMode;
import io.throttlekit.StoreUnavailableException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import reactor.util.Logger;
import reactor.util.Loggers;

/** Counts the requests that the store could not decide and logs them, one line per interval. */
final class Outages {
    private static final Logger LOG = Loggers.getLogger(Admission.class);
    private static final long INTERVAL_NANOS = Duration.ofSeconds(10).toNanos();

    private final String policy;
    private final FailMode failMode;
    private final LongAdder undecided = new LongAdder();
    private final AtomicLong nextLineNanos = new AtomicLong(System.nanoTime());

    Outages(String policy, FailMode failMode) {
        this.policy = policy;
        this.failMode = failMode;
    }

    void add(StoreUnavailableException outage) {
        undecided.increment();
        long now = System.nanoTime();
        long due = nextLineNanos.get();
        if (now - due >= 0 && nextLineNanos.compareAndSet(due, now + INTERVAL_NANOS)) {
            LOG.warn(
                    "limit {}: the store could not decide {} request(s), which {}: {} ({})",
                    policy,
                    undecided.sumThenReset(),
                    failMode == FailMode.OPEN ? "passed unlimited" : "were refused with 503",
                    outage.reason(),
                    String.valueOf(outage.getMessage()));
        }
    }
}
