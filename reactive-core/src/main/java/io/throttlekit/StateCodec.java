package io.throttlekit;

/**
 * How a store without knowledge of a strategy keeps its state, and what it must know of it.
 *
 * @param <S> the state, an immutable value
 */
public interface StateCodec<S> {
    /**
     * Which kind of state this is. A store refuses to read a key that holds another kind.
     *
     * @return a short constant name, such as {@code gcra}
     */
    String kind();

    /**
     * Writes a state.
     *
     * @param state the state
     * @return a form that {@link #decode} reads back to an equal state
     */
    byte[] encode(S state);

    /**
     * Reads a state.
     *
     * @param bytes what {@link #encode} wrote
     * @return the state
     * @throws IllegalArgumentException if the bytes are none of this codec's
     */
    S decode(byte[] bytes);

    /**
     * The first instant at which the state says no more than no state at all.
     *
     * @param state the state
     * @return epoch microseconds; from then on the state is absent
     */
    long expiresAt(S state);

    /**
     * Units that could be granted, by which a full store tells which key it loses least by forgetting.
     *
     * @param state the state
     * @param nowMicros the store's clock
     * @return at least 0
     */
    long remaining(S state, long nowMicros);
}
