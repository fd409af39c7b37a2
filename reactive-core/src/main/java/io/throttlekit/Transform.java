package io.throttlekit;

import org.jspecify.annotations.Nullable;

/**
 * One thing to do to one key: a pure function of the key's state and the time.
 *
 * <p>A store runs {@link #step} atomically, keeps the state it returns, and answers with
 * {@link #read}. Both are pure, so a store whose commit failed may run them again. They are apart so that
 * several keys can be stepped first and kept all together or not at all.
 *
 * @param <S> the state, an immutable value
 * @param <R> the answer
 */
public interface Transform<S, R> {
    /**
     * The codec of the state.
     *
     * @return always the same codec
     */
    StateCodec<S> codec();

    /**
     * Computes the state that follows.
     *
     * @param before the state, or null when there is none or it has expired
     * @param nowMicros the store's clock, epoch microseconds; it may be older than the state
     * @return the next state; {@code before} itself when nothing changes
     */
    Step<S> step(@Nullable S before, long nowMicros);

    /**
     * Describes what a step did.
     *
     * @param step the step
     * @param nowMicros the clock it was made with
     * @return the answer, never null
     */
    R read(Step<S> step, long nowMicros);

    /**
     * The same computation for a store that can run it where the state lives.
     *
     * @return the program, or null when there is none; correctness never depends on it
     */
    default @Nullable Program<R> program() {
        return null;
    }
}
