package io.throttlekit.examples.soak;

import io.throttlekit.Store;
import io.throttlekit.store.MemoryStore;
import java.time.Duration;
import java.util.List;

/** Nothing goes wrong here; it is what the others are compared with. */
final class MemoryBackend implements Backend {
    private final MemoryStore store =
            MemoryStore.builder().sweepInterval(Duration.ofSeconds(1)).build();

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public Store store() {
        return store;
    }

    @Override
    public Duration deadline() {
        return Duration.ZERO;
    }

    @Override
    public List<Fault> faults() {
        return List.of();
    }

    @Override
    public long connections() {
        return 0;
    }

    @Override
    public long keys() {
        return store.size();
    }

    @Override
    public void close() {
        store.close().block();
    }
}
