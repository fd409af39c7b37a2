package io.throttlekit.conformance;

import io.throttlekit.StateCodec;
import io.throttlekit.Step;
import io.throttlekit.Store;
import io.throttlekit.Transform;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A store seen through the general form of every transform: no program, no instant in a {@code long}, just
 * {@code step} and {@code read}.
 *
 * @param store the store
 */
record FunctionPath(Store store) implements Store {
    @Override
    public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
        return store.apply(key, new Plain<>(transform));
    }

    @Override
    public Mono<Void> reset(String key) {
        return store.reset(key);
    }

    @Override
    public Mono<Void> close() {
        return store.close();
    }

    private record Plain<S, R>(Transform<S, R> transform) implements Transform<S, R> {
        @Override
        public StateCodec<S> codec() {
            return transform.codec();
        }

        @Override
        public Step<S> step(@Nullable S before, long nowMicros) {
            return transform.step(before, nowMicros);
        }

        @Override
        public R read(Step<S> step, long nowMicros) {
            return transform.read(step, nowMicros);
        }
    }
}
