package io.throttlekit.examples;

import io.throttlekit.Store;
import io.throttlekit.Transform;
import io.throttlekit.limiter.LeaseOptions;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.limiter.TwoTier;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.FixedWindow;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.publisher.Mono;

/**
 * Four nodes that share a limit of 1,000 and lease 50 units at a time, in one process.
 *
 * <p>It prints
 *
 * <pre>{@code
 * strict: 1200 requests, 1000 allowed, 1200 calls of the store
 * leased: 1200 requests, 1000 allowed, 220 calls of the store
 * }</pre>
 *
 * <p>Twenty of these calls lease 50 units each, and 200 are the denials, which nobody can tell but the store.
 */
public final class TwoTierFleet {
    private static final int NODES = 4;
    private static final int REQUESTS = 1_200;
    private static final FixedWindow LIMIT = FixedWindow.of(1_000, Duration.ofDays(3650));

    private TwoTierFleet() {}

    /**
     * Runs once and ends.
     *
     * @param args none
     */
    public static void main(String[] args) {
        run(System.out);
    }

    static void run(PrintStream out) {
        CountingStore strict = new CountingStore(MemoryStore.create());
        fleet("strict", strict, TwoTier.strict(LIMIT, strict), out);
        CountingStore leased = new CountingStore(MemoryStore.create());
        LeaseOptions lease = LeaseOptions.batch(50).windowCoupled();
        fleet("leased", leased, TwoTier.leased(LIMIT, leased, lease), out);
    }

    private static void fleet(String name, CountingStore store, TwoTier.Builder node, PrintStream out) {
        List<Limiter> nodes = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            nodes.add(node.build());
        }
        int allowed = 0;
        for (int i = 0; i < REQUESTS; i++) {
            allowed += Boolean.TRUE.equals(nodes.get(i % NODES)
                            .check("tenant")
                            .map(decision -> decision.allowed())
                            .block())
                    ? 1
                    : 0;
        }
        out.println(
                name + ": " + REQUESTS + " requests, " + allowed + " allowed, " + store.calls + " calls of the store");
        Mono.when(nodes.stream().map(Limiter::close).toList())
                .then(store.close())
                .block();
    }

    /** Counts what reaches the store that all nodes share. */
    private record CountingStore(Store store, AtomicLong calls) implements Store {
        CountingStore(Store store) {
            this(store, new AtomicLong());
        }

        @Override
        public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
            return store.apply(key, transform).doOnSubscribe(subscription -> calls.incrementAndGet());
        }

        @Override
        public Mono<Void> reset(String key) {
            return store.reset(key);
        }

        @Override
        public Mono<Void> close() {
            return store.close();
        }
    }
}
