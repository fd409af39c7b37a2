package io.throttlekit.http;

import io.throttlekit.Decision;
import io.throttlekit.FailMode;
import io.throttlekit.StoreUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/** Tells the listeners, and keeps what they do wrong from the request. Without listeners it reads no clock. */
final class Recorder {
    private final List<DecisionListener> listeners;
    private final FailMode failMode;
    private final Failures outages;
    private final Failures listenerFailures = new Failures("a decision listener failed");

    Recorder(List<DecisionListener> listeners, FailMode failMode, Failures outages) {
        this.listeners = List.copyOf(listeners);
        this.failMode = failMode;
        this.outages = outages;
    }

    long now() {
        return listeners.isEmpty() ? 0 : System.nanoTime();
    }

    void decided(String policy, Decision decision, boolean enforced, long start) {
        if (!listeners.isEmpty()) {
            Duration latency = Duration.ofNanos(System.nanoTime() - start);
            tell(listener -> listener.decided(policy, decision, enforced, latency));
        }
    }

    void undecided(String policy, StoreUnavailableException error, long start) {
        outages.add(error);
        if (!listeners.isEmpty()) {
            Duration latency = Duration.ofNanos(System.nanoTime() - start);
            tell(listener -> listener.undecided(policy, error, failMode, latency));
        }
    }

    private void tell(Consumer<DecisionListener> event) {
        for (DecisionListener listener : listeners) {
            try {
                event.accept(listener);
            } catch (RuntimeException e) {
                listenerFailures.add(e);
            }
        }
    }
}
