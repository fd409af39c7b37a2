package io.throttlekit.shaping;

import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * How a pacing operator treats a full queue, and how far it reserves ahead. Immutable.
 *
 * @param <T> the elements
 */
public final class Pacing<T> {
    /** How many elements an operator holds unless told otherwise. */
    public static final int DEFAULT_AHEAD = 64;

    private static final int MAX_AHEAD = 1 << 16;

    private enum WhenFull {
        FAIL,
        DROP,
        WAIT
    }

    private final WhenFull whenFull;
    private final @Nullable Consumer<? super T> dropped;
    private final int ahead;

    private Pacing(WhenFull whenFull, @Nullable Consumer<? super T> dropped, int ahead) {
        this.whenFull = whenFull;
        this.dropped = dropped;
        this.ahead = ahead;
    }

    /**
     * An element that meets a full queue ends the sequence with {@code QueueFullException}.
     *
     * @param <T> the elements
     * @return the default
     */
    public static <T> Pacing<T> failWhenFull() {
        return new Pacing<>(WhenFull.FAIL, null, DEFAULT_AHEAD);
    }

    /**
     * An element that meets a full queue is left out.
     *
     * @param dropped told of each such element, on the thread that found the queue full; it must not block, and
     *     what it throws ends the sequence
     * @param <T> the elements
     * @return the options
     */
    public static <T> Pacing<T> dropWhenFull(Consumer<? super T> dropped) {
        return new Pacing<>(WhenFull.DROP, Objects.requireNonNull(dropped, "dropped"), DEFAULT_AHEAD);
    }

    /**
     * An element that meets a full queue waits until there is room and tries again, and those behind it in its
     * line wait too; backpressure does the rest.
     *
     * @param <T> the elements
     * @return the options
     */
    public static <T> Pacing<T> waitWhenFull() {
        return new Pacing<>(WhenFull.WAIT, null, DEFAULT_AHEAD);
    }

    /**
     * The same treatment with another bound on the elements that are held: asked for, being reserved or waiting.
     *
     * @param ahead from 1 to 65,536; 64 by default
     * @return new options
     * @throws IllegalArgumentException if it is out of range
     */
    public Pacing<T> ahead(int ahead) {
        if (ahead < 1 || ahead > MAX_AHEAD) {
            throw new IllegalArgumentException("ahead must be from 1 to " + MAX_AHEAD + ", was " + ahead);
        }
        return new Pacing<>(whenFull, dropped, ahead);
    }

    int ahead() {
        return ahead;
    }

    boolean waits() {
        return whenFull == WhenFull.WAIT;
    }

    @Nullable
    Consumer<? super T> dropped() {
        return dropped;
    }
}
