package io.throttlekit.examples.soak;

import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/** Has Netty watch every buffer, and hears of those that were lost. To be made before any buffer is. */
final class Leaks extends ResourceLeakDetectorFactory {
    private final LongAdder found = new LongAdder();
    private final Consumer<String> violations;

    private Leaks(Consumer<String> violations) {
        this.violations = violations;
    }

    static Leaks watch(Consumer<String> violations) {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
        Leaks leaks = new Leaks(violations);
        ResourceLeakDetectorFactory.setResourceLeakDetectorFactory(leaks);
        return leaks;
    }

    long count() {
        return found.sum();
    }

    @Override
    @SuppressWarnings("deprecation") // the factory still asks for it
    public <T> ResourceLeakDetector<T> newResourceLeakDetector(
            Class<T> resource, int samplingInterval, long maxActive) {
        return new ResourceLeakDetector<>(resource, samplingInterval) {
            @Override
            protected void reportTracedLeak(String type, String records) {
                report(type, records);
            }

            @Override
            protected void reportUntracedLeak(String type) {
                report(type, "");
            }
        };
    }

    private void report(String type, String records) {
        found.increment();
        violations.accept("Netty lost a " + type + records);
    }
}
