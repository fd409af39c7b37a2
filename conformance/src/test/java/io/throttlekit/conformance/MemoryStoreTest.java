package io.throttlekit.conformance;

import io.throttlekit.ManualClock;
import io.throttlekit.Store;
import io.throttlekit.store.MemoryStore;

/** MemoryStore keeps the rules, in virtual time. */
class MemoryStoreTest extends StoreConformance {
    private final ManualClock clock = ManualClock.at(1_759_996_572_738_000L);

    @Override
    protected Store open() {
        return MemoryStore.builder().clock(clock).build();
    }

    @Override
    protected Store openBeside(Store first) {
        return first;
    }

    @Override
    protected ManualClock clock() {
        return clock;
    }
}
