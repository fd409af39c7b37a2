package io.throttlekit.shaping;

import io.throttlekit.Store;
import io.throttlekit.Transform;
import java.time.Duration;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** A store that is not in this process, as far as a shaper can tell: it answers later, on threads of its own. */
final class LateStore implements Store {
    private final Store store;
    private final Duration latency;
    /** Looked up per call, so that virtual time can replace it. */
    private final boolean ownThread;

    private final Scheduler thread;

    private LateStore(Store store, Duration latency, boolean ownThread) {
        this.store = store;
        this.latency = latency;
        this.ownThread = ownThread;
        this.thread = ownThread ? Schedulers.newSingle("store", true) : Schedulers.immediate();
    }

    /** Answers after a time of {@code Schedulers.parallel()}. */
    static LateStore after(Duration latency, Store store) {
        return new LateStore(store, latency, false);
    }

    /** Answers on a thread of its own whose name starts with {@code store}. */
    static LateStore onItsOwnThread(Store store) {
        return new LateStore(store, Duration.ofMillis(1), true);
    }

    @Override
    public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
        Mono<R> answer = key.contains("broken")
                ? Mono.error(() -> new IllegalStateException("the store is broken"))
                : store.apply(key, transform);
        return Mono.delay(latency, ownThread ? thread : Schedulers.parallel()).then(answer);
    }

    @Override
    public Mono<Void> reset(String key) {
        return store.reset(key);
    }

    @Override
    public Mono<Void> close() {
        return store.close().doFinally(signal -> thread.dispose());
    }
}
