package io.throttlekit.limiter;

import io.throttlekit.Decision;
import reactor.core.publisher.Mono;

/** Keeps nothing: every check asks the second tier. */
final class StrictTier implements Tier {
    private final Origin<?> origin;
    private volatile boolean closed;

    StrictTier(Origin<?> origin) {
        this.origin = origin;
    }

    @Override
    public Mono<Decision> check(String key, long min, long max) {
        return Mono.defer(() -> closed ? Mono.error(KeyTable.closed()) : origin.check(key, min, max));
    }

    @Override
    public Mono<Decision> peek(String key) {
        return origin.peek(key);
    }

    @Override
    public void forget(String key) {}

    @Override
    public void refunded(String key) {}

    @Override
    public Mono<Void> close() {
        return Mono.fromRunnable(() -> closed = true);
    }
}
