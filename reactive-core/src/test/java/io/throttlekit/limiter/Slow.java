package io.throttlekit.limiter;

import io.throttlekit.Store;
import io.throttlekit.Transform;
import java.time.Duration;
import reactor.core.publisher.Mono;

/** A store that decides at once and whose answers take a while. */
record Slow(Store store, Duration delay) implements Store {
    @Override
    public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
        return Mono.defer(() -> store.apply(key, transform)).delayElement(delay);
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
