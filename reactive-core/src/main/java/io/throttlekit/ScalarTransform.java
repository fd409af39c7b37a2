package io.throttlekit;

import java.util.Objects;

/**
 * A transform whose whole state is one instant, so that a store in this process can keep it in one
 * {@code long} and change it by compare-and-set.
 *
 * <p>The instant is counted in ticks of {@code 1/ticksPerMicro} microseconds since an origin of the
 * store's choice. An instant that is not after now means the same as no state. The results equal those of
 * {@link #step} and {@link #read}, which a store uses whose clock is further than {@link #maxMicros()} from
 * its origin.
 *
 * @param <S> the state in its general form
 * @param <R> the answer
 */
public abstract class ScalarTransform<S, R> implements Transform<S, R> {
    // A class with fields, and no interface: the hot path reads them without a call.

    /** The instant that stands for no state: before every instant that a store in range can meet. */
    public static final long ABSENT = -(1L << 62);

    private static final long MAX_TICKS = 1L << 61;

    private final StateCodec<S> codec;
    private final long ticksPerMicro;
    private final long maxMicros;

    /**
     * A transform.
     *
     * @param codec the codec of the state's general form
     * @param ticksPerMicro ticks per microsecond, or 0 when the configuration does not fit a {@code long}
     */
    protected ScalarTransform(StateCodec<S> codec, long ticksPerMicro) {
        this.codec = Objects.requireNonNull(codec, "codec");
        this.ticksPerMicro = ticksPerMicro;
        this.maxMicros = ticksPerMicro == 0 ? -1 : MAX_TICKS / ticksPerMicro;
    }

    @Override
    public final StateCodec<S> codec() {
        return codec;
    }

    /**
     * Ticks per microsecond.
     *
     * @return at least 1, or 0 when this configuration does not fit a {@code long}
     */
    public final long ticksPerMicro() {
        return ticksPerMicro;
    }

    /**
     * How far from the store's origin the clock may be, so that its ticks stay within 2<sup>61</sup>.
     *
     * @return microseconds to both sides; negative when this configuration does not fit a {@code long}
     */
    public final long maxMicros() {
        return maxMicros;
    }

    /**
     * Computes the instant that follows.
     *
     * @param before the instant, in ticks
     * @param now the clock, in ticks
     * @param nowMicros the clock in epoch microseconds, for a transform that compares with an instant it knows
     * @return the next instant; exactly {@code before} when nothing changes
     */
    public abstract long next(long before, long now, long nowMicros);

    /**
     * Describes what {@link #next} did. It must not throw: the change is made when it is called.
     *
     * @param before the instant it was given
     * @param after the instant it returned
     * @param now the clock in ticks
     * @param nowMicros the clock in epoch microseconds
     * @return the answer, never null
     */
    public abstract R readTicks(long before, long after, long now, long nowMicros);

    /**
     * The general form of an instant.
     *
     * @param ticks the instant
     * @param originMicros the store's origin, epoch microseconds
     * @return the state
     */
    public abstract S fromTicks(long ticks, long originMicros);

    /**
     * Units that could be granted at an instant.
     *
     * @param ticks the instant
     * @param now the clock, in ticks
     * @return at least 0
     */
    public abstract long remainingTicks(long ticks, long now);
}
