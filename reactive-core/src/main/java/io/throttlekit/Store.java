package io.throttlekit;

import reactor.core.publisher.Mono;

/**
 * Keeps the state of keys and applies transforms to it, one key at a time, atomically.
 *
 * <p>Everything is cold: assembling a {@code Mono} does nothing, each subscription applies once. A call
 * never blocks. A remote store signals on its I/O threads: do not run long work there, {@code publishOn}
 * first. It has a deadline of its own, a bound on calls in flight, and turns every failure into a
 * {@link StoreUnavailableException}; it never sends a command a second time whose fate is unknown.
 */
public interface Store {
    /**
     * Applies a transform to a key.
     *
     * <p>The store's clock decides. Cancelling leaves nothing behind but possibly the change itself, if
     * the command was sent already.
     *
     * @param key any string, 0 to 10,000 characters at least
     * @param transform what to do
     * @param <S> the state
     * @param <R> the answer
     * @return the answer, or {@link StoreUnavailableException}, {@link StateMismatchException}, or what the
     *     transform threw; the state is then as it was
     */
    <S, R> Mono<R> apply(String key, Transform<S, R> transform);

    /**
     * Forgets a key.
     *
     * @param key the key
     * @return completes when the key is as if never used
     */
    Mono<Void> reset(String key);

    /**
     * Ends what the store started. Calls afterwards fail with {@link StoreUnavailableException}, reason
     * {@code CLOSED}. Closing twice is as closing once.
     *
     * @return completes when everything is released
     */
    Mono<Void> close();
}
