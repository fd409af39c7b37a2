package io.throttlekit.conformance;

import io.throttlekit.Store;
import io.throttlekit.Transform;
import java.util.Objects;
import reactor.core.publisher.Mono;

/**
 * A store whose every answer waits for a gate: for trying what happens when a store is late, down or hangs.
 *
 * <pre>{@code
 * new GatedStore(memory, Mono.delay(Duration.ofMillis(50), scheduler).then());     // late, on another thread
 * new GatedStore(memory, Mono.error(() -> new StoreUnavailableException(…)));      // down
 * new GatedStore(memory, Mono.never());                                            // hangs
 * }</pre>
 *
 * @param behind the store that answers once the gate opens
 * @param gate subscribed to before each call; completing opens it
 */
public record GatedStore(Store behind, Mono<Void> gate) implements Store {
    /** Checks that both are there. */
    public GatedStore {
        Objects.requireNonNull(behind, "behind");
        Objects.requireNonNull(gate, "gate");
    }

    @Override
    public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
        return gate.then(behind.apply(key, transform));
    }

    @Override
    public Mono<Void> reset(String key) {
        return gate.then(behind.reset(key));
    }

    @Override
    public Mono<Void> close() {
        return behind.close();
    }
}
