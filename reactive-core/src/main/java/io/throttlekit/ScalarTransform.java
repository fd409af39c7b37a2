package io.throttlekit;

/**
 * A transform whose whole state is one instant, so that a store in this process can keep it in one
 * {@code long} and change it by compare-and-set.
 *
 * <p>The instant is counted in ticks of {@code 1/ticksPerMicro} microseconds since an origin of the
 * store's choice. An instant that is not after now means the same as no state. The results equal those of
 * {@link #step} and {@link #read}; a store whose origin is too far away from now for a {@code long} of
 * ticks ({@link #maxMicros}) uses those instead.
 *
 * @param <S> the state in its general form
 * @param <R> the answer
 */
public interface ScalarTransform<S, R> extends Transform<S, R> {
    /** The instant that stands for no state: before every instant that a store in range can meet. */
    long ABSENT = -(1L << 62);

    /**
     * Ticks per microsecond.
     *
     * @return at least 1, or 0 when this configuration does not fit a {@code long}
     */
    long ticksPerMicro();

    /**
     * How far from the store's origin the clock may be, so that its ticks stay within 2<sup>61</sup>.
     *
     * @return microseconds, to both sides
     */
    long maxMicros();

    /**
     * Computes the instant that follows.
     *
     * @param before the instant, in ticks
     * @param now the clock, in ticks
     * @return the next instant; exactly {@code before} when nothing changes
     */
    long next(long before, long now);

    /**
     * Describes what {@link #next} did.
     *
     * @param before the instant it was given
     * @param after the instant it returned
     * @param now the clock in ticks
     * @param nowMicros the clock in epoch microseconds
     * @return the answer, never null
     */
    R readTicks(long before, long after, long now, long nowMicros);

    /**
     * The general form of an instant.
     *
     * @param ticks the instant
     * @param originMicros the store's origin, epoch microseconds
     * @return the state
     */
    S fromTicks(long ticks, long originMicros);

    /**
     * Units that could be granted at an instant.
     *
     * @param ticks the instant
     * @param now the clock, in ticks
     * @return at least 0
     */
    long remainingTicks(long ticks, long now);
}
