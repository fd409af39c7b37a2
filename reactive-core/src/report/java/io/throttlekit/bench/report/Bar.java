package io.throttlekit.bench.report;

import java.util.Locale;

/**
 * What a ratio should reach.
 *
 * @param value the bar itself; not a number when there is none
 * @param most whether the ratio should be at most this, rather than at least
 */
public record Bar(double value, boolean most) {
    /** A ratio to look at, without a promise. */
    public static final Bar NONE = new Bar(Double.NaN, true);

    /** A ratio that is good when it is small. */
    public static Bar atMost(double value) {
        return new Bar(value, true);
    }

    /** A ratio that is good when it is big. */
    public static Bar atLeast(double value) {
        return new Bar(value, false);
    }

    boolean isNone() {
        return Double.isNaN(value);
    }

    boolean passes(double ratio) {
        return most ? ratio <= value : ratio >= value;
    }

    @Override
    public String toString() {
        return isNone() ? "" : String.format(Locale.ROOT, "%s %.2f", most ? "≤" : "≥", value);
    }
}
