package io.throttlekit.shaping;

import io.throttlekit.ExactMicros;
import io.throttlekit.strategy.Departure;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What a {@link Shaper} answered: when to go, or that the queue is full.
 *
 * <p>Times are those of the store that answered, so {@link #departure()} is not to be compared with a clock of
 * the reader's; the delays are. Whoever holds an accepted reservation either goes after its delay or gives it
 * back with {@link Shaper#cancel}.
 */
public final class Reservation {
    private final String key;
    private final Departure departure;
    private final AtomicBoolean spent = new AtomicBoolean();

    Reservation(String key, Departure departure) {
        this.key = key;
        this.departure = departure;
    }

    /** True the first time. */
    boolean spend() {
        return spent.compareAndSet(false, true);
    }

    Departure place() {
        return departure;
    }

    /**
     * Whose line it is.
     *
     * @return the key
     */
    public String key() {
        return key;
    }

    /**
     * The units that were asked for.
     *
     * @return at least 1
     */
    public long cost() {
        return departure.cost();
    }

    /**
     * Whether there is a departure to wait for.
     *
     * @return false when the queue was full, and nothing changed
     */
    public boolean accepted() {
        return departure.accepted();
    }

    /**
     * The time until departure; when not accepted, until the queue has room.
     *
     * @return whole milliseconds, rounded up
     */
    public long delayMs() {
        return -Math.floorDiv(-departure.waitMicros(), 1000L);
    }

    /**
     * The time until departure; when not accepted, until the queue has room.
     *
     * @return microseconds, rounded up from the exact fraction
     */
    public long delayMicros() {
        return departure.waitMicros();
    }

    /**
     * {@link #delayMicros()} as a duration.
     *
     * @return zero or more
     */
    public Duration delay() {
        return Duration.of(departure.waitMicros(), ChronoUnit.MICROS);
    }

    /**
     * The instant of departure, exact; when not accepted, the instant at which the line ends.
     *
     * @return an instant of the store's clock
     */
    public ExactMicros departure() {
        return departure.at();
    }

    @Override
    public String toString() {
        return "Reservation[" + (accepted() ? "accepted" : "rejected") + ", cost=" + cost() + ", delayMicros="
                + delayMicros() + "]";
    }
}
