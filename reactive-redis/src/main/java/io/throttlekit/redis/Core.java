package io.throttlekit.redis;

import io.throttlekit.Clock;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** What the parts of one store share: its options, the count of its calls, and whether it is closed. */
final class Core {
    private final long deadlineNanos;
    private final int maxInFlight;
    private final int maxRetries;
    private final @Nullable Clock clock;
    private final AtomicInteger inFlight = new AtomicInteger();
    private volatile boolean closed;

    Core(long deadlineNanos, int maxInFlight, int maxRetries, @Nullable Clock clock) {
        this.deadlineNanos = deadlineNanos;
        this.maxInFlight = maxInFlight;
        this.maxRetries = maxRetries;
        this.clock = clock;
    }

    long deadlineNanos() {
        return deadlineNanos;
    }

    int maxInFlight() {
        return maxInFlight;
    }

    int maxRetries() {
        return maxRetries;
    }

    /** The clock that stands for the server's, if one was injected. */
    @Nullable
    Clock clock() {
        return clock;
    }

    /** Counts a call in, unless there are too many. */
    boolean enter() {
        if (inFlight.incrementAndGet() <= maxInFlight) {
            return true;
        }
        inFlight.decrementAndGet();
        return false;
    }

    void leave() {
        inFlight.decrementAndGet();
    }

    int inFlight() {
        return inFlight.get();
    }

    boolean isClosed() {
        return closed;
    }

    void close() {
        closed = true;
    }
}
