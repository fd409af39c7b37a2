package io.throttlekit.examples;

import io.throttlekit.Clock;
import io.throttlekit.StateCodec;
import io.throttlekit.StateMismatchException;
import io.throttlekit.Step;
import io.throttlekit.Store;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.Transform;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A store of our own over any {@link ConcurrentMap} that does not block, which several stores may share.
 *
 * <p>A step is pure, so it is tried again when somebody else changed the key meanwhile; the map replaces a state only
 * for the one that the step has seen. States that have expired count as absent, but stay in the map until their key is
 * used again: give the map a bound, or a time to live, where keys come from outside.
 */
final class MapStore implements Store {
    private final ConcurrentMap<String, Kept> states;
    private final Clock clock;
    private volatile boolean closed;

    /** What is kept for a key; equal when all of it is. */
    record Kept(String kind, long expiresAtMicros, ByteBuffer state) {}

    MapStore(ConcurrentMap<String, Kept> states, Clock clock) {
        this.states = states;
        this.clock = clock;
    }

    @Override
    public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(transform, "transform");
        return Mono.fromCallable(() -> applyNow(key, transform));
    }

    @SuppressWarnings("ReferenceEquality") // the very state that the step was given means that nothing changes
    private <S, R> R applyNow(String key, Transform<S, R> transform) {
        StateCodec<S> codec = transform.codec();
        while (true) {
            requireOpen();
            long nowMicros = clock.epochMicros();
            Kept kept = states.get(key);
            S before = kept == null || kept.expiresAtMicros <= nowMicros ? null : read(kept, codec);
            Step<S> step = transform.step(before, nowMicros);
            // Before the change: what this throws must leave the state as it was.
            R answer = transform.read(step, nowMicros);
            if (step.state() == before || swap(key, kept, write(step.state(), codec))) {
                return answer;
            }
        }
    }

    private static <S> S read(Kept kept, StateCodec<S> codec) {
        if (!kept.kind.equals(codec.kind())) {
            throw new StateMismatchException("the key holds a " + kept.kind + ", not a " + codec.kind(), null);
        }
        byte[] bytes = new byte[kept.state.remaining()];
        kept.state.duplicate().get(bytes);
        return codec.decode(bytes);
    }

    private static <S> @Nullable Kept write(@Nullable S state, StateCodec<S> codec) {
        return state == null
                ? null
                : new Kept(codec.kind(), codec.expiresAt(state), ByteBuffer.wrap(codec.encode(state)));
    }

    private boolean swap(String key, @Nullable Kept before, @Nullable Kept after) {
        if (before == null) {
            return after == null || states.putIfAbsent(key, after) == null;
        }
        return after == null ? states.remove(key, before) : states.replace(key, before, after);
    }

    @Override
    public Mono<Void> reset(String key) {
        Objects.requireNonNull(key, "key");
        return Mono.fromRunnable(() -> {
            requireOpen();
            states.remove(key);
        });
    }

    @Override
    public Mono<Void> close() {
        return Mono.fromRunnable(() -> closed = true);
    }

    private void requireOpen() {
        if (closed) {
            throw new StoreUnavailableException(Reason.CLOSED, false, "the store is closed", null);
        }
    }
}
