package io.throttlekit.examples.soak;

import io.throttlekit.Decision;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** What may be allowed on one key, by all nodes together. */
interface Bound {
    void allowed(Decision decision);

    /** Checks what can only be told in the end. */
    default void verify() {}

    /** Never more than so many in a window, which is known by its end. */
    static Bound ofWindow(String name, long limit, Consumer<String> violations) {
        Map<Long, Long> windows = new ConcurrentHashMap<>();
        return decision -> {
            long count = windows.merge(decision.resetAtMs(), 1L, Long::sum);
            if (count == limit + 1) {
                violations.accept(name + ": more than " + limit + " in the window until " + decision.resetAtMs());
            }
            windows.keySet().removeIf(end -> end < decision.resetAtMs() - 60_000);
        };
    }

    /** Never more than GCRA allows on the instants at which it was decided, which are told to a millisecond. */
    static Bound ofRate(String name, long emissionMicros, long burst, Consumer<String> violations) {
        return new Bound() {
            private final List<Long> instants = Collections.synchronizedList(new ArrayList<>());

            @Override
            public void allowed(Decision decision) {
                instants.add(decision.decidedAtMs() * 1000);
            }

            @Override
            public void verify() {
                List<Long> sorted = new ArrayList<>(instants);
                Collections.sort(sorted);
                long arrival = 0;
                for (long instant : sorted) {
                    arrival = Math.max(arrival, instant) + emissionMicros;
                    if (arrival > instant + burst * emissionMicros + 1000) {
                        violations.accept(name + ": more than its burst and rate at " + instant / 1000);
                        return;
                    }
                }
            }
        };
    }
}
