package io.throttlekit.http;

import io.throttlekit.Store;
import io.throttlekit.Transform;
import reactor.core.publisher.Mono;

/** A store whose every answer waits for a gate: one that fails, opens late, or never opens. */
record GatedStore(Store behind, Mono<Void> gate) implements Store {
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
