package io.throttlekit;

/** A store in this process, which answers on the caller's thread without waiting for anything. */
public interface SyncStore extends Store {
    /**
     * The store's clock.
     *
     * @return epoch microseconds
     */
    long nowMicros();

    /**
     * Applies a transform to a key, now, by the store's clock.
     *
     * @param key any string
     * @param transform what to do
     * @param <S> the state
     * @param <R> the answer
     * @return the answer
     * @throws StoreUnavailableException if the store is closed
     * @throws StateMismatchException if the key holds another kind of state
     */
    default <S, R> R applySync(String key, Transform<S, R> transform) {
        return applySync(key, transform, nowMicros());
    }

    /**
     * Applies a transform to a key at a given time.
     *
     * @param key any string
     * @param transform what to do
     * @param nowMicros the time to do it at, usually {@link #nowMicros()}; several calls may share one
     * @param <S> the state
     * @param <R> the answer
     * @return the answer
     * @throws StoreUnavailableException if the store is closed
     * @throws StateMismatchException if the key holds another kind of state
     */
    <S, R> R applySync(String key, Transform<S, R> transform, long nowMicros);

    /**
     * Forgets a key, now.
     *
     * @param key the key
     * @throws StoreUnavailableException if the store is closed
     */
    void resetSync(String key);
}
