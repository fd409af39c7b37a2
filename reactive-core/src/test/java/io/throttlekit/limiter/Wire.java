package io.throttlekit.limiter;

import io.throttlekit.Decision;
import io.throttlekit.Store;
import io.throttlekit.Transform;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** A store at the end of a wire: calls are counted, and held or broken at will. */
final class Wire implements Store {
    enum Holding {
        NOTHING,
        REQUESTS,
        REPLIES
    }

    private final Store store;
    private final Deque<Sinks.Empty<Void>> held = new ArrayDeque<>();
    final AtomicInteger calls = new AtomicInteger();
    final AtomicInteger refunds = new AtomicInteger();
    volatile Holding holding = Holding.NOTHING;
    volatile @Nullable Throwable broken;

    Wire(Store store) {
        this.store = store;
    }

    @Override
    public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
        return Mono.defer(() -> {
            calls.incrementAndGet();
            Throwable error = broken;
            if (error != null) {
                return Mono.error(error);
            }
            Mono<R> answer = store.apply(key, transform).doOnNext(value -> {
                if (!(value instanceof Decision)) {
                    refunds.incrementAndGet();
                }
            });
            return switch (holding) {
                case NOTHING -> answer;
                case REQUESTS -> hold().then(answer);
                case REPLIES -> answer.flatMap(value -> hold().thenReturn(value));
            };
        });
    }

    private Mono<Void> hold() {
        Sinks.Empty<Void> gate = Sinks.empty();
        synchronized (held) {
            held.add(gate);
        }
        return gate.asMono();
    }

    /** Lets the longest held call go on; false when there is none. */
    boolean releaseOne() {
        Sinks.Empty<Void> gate;
        synchronized (held) {
            gate = held.poll();
        }
        return gate != null && gate.tryEmitEmpty().isSuccess();
    }

    void releaseAll() {
        holding = Holding.NOTHING;
        while (releaseOne()) {}
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
