package io.throttlekit.conformance;

import io.throttlekit.Clock;
import io.throttlekit.StateCodec;
import io.throttlekit.StateMismatchException;
import io.throttlekit.Step;
import io.throttlekit.Store;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.Transform;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The simplest store that keeps the rules: states as bytes in a map that several stores can share. Each place
 * where a store can go wrong is a method, to be overridden by one that does.
 */
class ByteStore implements Store {
    /** Where the states are; the monitor is the lock. */
    static final class Backend {
        final Map<String, Kept> states = new HashMap<>();
    }

    /** What is kept for a key. */
    static final class Kept {
        final String kind;
        final byte[] bytes;
        final long expiresAt;

        Kept(String kind, byte[] bytes, long expiresAt) {
            this.kind = kind;
            this.bytes = bytes;
            this.expiresAt = expiresAt;
        }
    }

    final Backend backend;
    private final Clock clock;
    private volatile boolean closed;

    ByteStore(Backend backend, Clock clock) {
        this.backend = backend;
        this.clock = clock;
    }

    @Override
    public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(transform, "transform");
        return Mono.fromCallable(() -> applyNow(key, transform));
    }

    @Override
    public Mono<Void> reset(String key) {
        Objects.requireNonNull(key, "key");
        return Mono.fromRunnable(() -> resetNow(key));
    }

    @Override
    public Mono<Void> close() {
        return Mono.fromRunnable(this::closeNow);
    }

    void closeNow() {
        closed = true;
    }

    void requireOpen() {
        if (closed) {
            throw new StoreUnavailableException(Reason.CLOSED, false, "the store is closed", null);
        }
    }

    <S, R> R applyNow(String key, Transform<S, R> transform) {
        requireOpen();
        synchronized (lock()) {
            return applyAlone(nameOf(key), transform, clock.epochMicros());
        }
    }

    <S, R> R applyAlone(String name, Transform<S, R> transform, long nowMicros) {
        S before = load(name, transform.codec(), nowMicros);
        pause();
        Step<S> step = transform.step(before, nowMicros);
        R answer = transform.read(step, nowMicros);
        if (isChange(before, step)) {
            save(name, transform.codec(), step.state());
        }
        return answer;
    }

    Object lock() {
        return backend;
    }

    void pause() {}

    void resetNow(String key) {
        requireOpen();
        synchronized (lock()) {
            backend.states.remove(nameOf(key));
        }
    }

    String nameOf(String key) {
        return key;
    }

    boolean hasExpired(Kept kept, long nowMicros) {
        return kept.expiresAt <= nowMicros;
    }

    <S> @Nullable S load(String name, StateCodec<S> codec, long nowMicros) {
        Kept kept = backend.states.get(name);
        if (kept == null || hasExpired(kept, nowMicros)) {
            return null;
        }
        if (!kept.kind.equals(codec.kind())) {
            meetOther(kept);
            return null;
        }
        return codec.decode(kept.bytes);
    }

    void meetOther(Kept kept) {
        throw new StateMismatchException("the key holds a " + kept.kind, null);
    }

    @SuppressWarnings("ReferenceEquality") // the very object means no change
    <S> boolean isChange(@Nullable S before, Step<S> step) {
        return step.state() != before;
    }

    <S> void save(String name, StateCodec<S> codec, @Nullable S state) {
        if (state == null) {
            forget(name);
        } else {
            backend.states.put(name, new Kept(codec.kind(), bytesOf(codec, state), codec.expiresAt(state)));
        }
    }

    void forget(String name) {
        backend.states.remove(name);
    }

    <S> byte[] bytesOf(StateCodec<S> codec, S state) {
        return codec.encode(state);
    }
}
