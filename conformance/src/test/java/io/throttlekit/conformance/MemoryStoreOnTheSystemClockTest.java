package io.throttlekit.conformance;

import io.throttlekit.Store;
import io.throttlekit.store.MemoryStore;

/** MemoryStore keeps the rules, in real time. */
class MemoryStoreOnTheSystemClockTest extends StoreConformance {
    @Override
    protected Store open() {
        return MemoryStore.create();
    }

    @Override
    protected Store openBeside(Store first) {
        return first;
    }
}
