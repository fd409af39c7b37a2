package io.throttlekit.strategy;

import io.throttlekit.ExactMicros;

/**
 * What a {@link DepartureLine} answered: a place in the line, or how long the line is too long.
 *
 * <p>Immutable. All times are those of the store that answered.
 */
public final class Departure {
    private final boolean accepted;
    private final long cost;
    private final long nowMicros;
    private final long whole;
    private final long part;
    private final long perMicro;
    private final long waitMicros;

    Departure(boolean accepted, long cost, long nowMicros, long whole, long part, long perMicro, long waitMicros) {
        this.accepted = accepted;
        this.cost = cost;
        this.nowMicros = nowMicros;
        this.whole = whole;
        this.part = part;
        this.perMicro = perMicro;
        this.waitMicros = waitMicros;
    }

    /**
     * Whether a place was taken.
     *
     * @return false when the line was too long, and nothing changed
     */
    public boolean accepted() {
        return accepted;
    }

    /**
     * The units that were asked for.
     *
     * @return at least 1
     */
    public long cost() {
        return cost;
    }

    /**
     * The instant of departure, exact; when it was not accepted, the instant at which the line ends.
     *
     * @return an instant that is not before {@link #decidedAtMicros()}
     */
    public ExactMicros at() {
        return new ExactMicros(whole, part, perMicro);
    }

    /**
     * The time until departure, or when it was not accepted until the line has room; rounded up.
     *
     * @return microseconds, at least 0; more than 0 when it was not accepted
     */
    public long waitMicros() {
        return waitMicros;
    }

    /**
     * {@link #waitMicros()} with three digits more, for those whose clock tells them.
     *
     * @return nanoseconds, rounded up from the exact fraction
     */
    public long waitNanos() {
        if (!accepted) {
            return waitMicros * 1000;
        }
        // The denominator is at most 10^12, so a thousand parts still fit.
        return (whole - nowMicros) * 1000 - Math.floorDiv(-part * 1000, perMicro);
    }

    /**
     * The clock that decided.
     *
     * @return epoch microseconds
     */
    public long decidedAtMicros() {
        return nowMicros;
    }

    long whole() {
        return whole;
    }

    long part() {
        return part;
    }

    @Override
    public String toString() {
        return "Departure[" + (accepted ? "accepted" : "rejected") + ", cost=" + cost + ", at=" + at() + ", waitMicros="
                + waitMicros + "]";
    }
}
