package io.throttlekit.examples.page;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.util.MultiValueMap;

/**
 * What a visitor has set.
 *
 * @param rate requests offered per second, 0 to 500
 * @param limit requests admitted per second, 1 to 200
 * @param burst requests admitted at once where the strategy knows bursts, 1 to 100
 */
record Knobs(int rate, int limit, int burst) {
    Knobs {
        inRange("rate", rate, 0, 500);
        inRange("limit", limit, 1, 200);
        inRange("burst", burst, 1, 100);
    }

    private static void inRange(String name, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(name + " must be from " + least + " to " + most + ", was " + value);
        }
    }

    /**
     * The knobs that a query states.
     *
     * @throws IllegalArgumentException if one is missing, given twice, not a whole number or out of range
     */
    static Knobs of(MultiValueMap<String, String> query) {
        return new Knobs(number(query, "rate"), number(query, "limit"), number(query, "burst"));
    }

    private static int number(MultiValueMap<String, String> query, String name) {
        @Nullable String value = query.getOrDefault(name, List.of()).size() == 1 ? query.getFirst(name) : null;
        try {
            return Integer.parseInt(value == null ? "" : value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + " must be given once, as a whole number", e);
        }
    }

    /** Whether only the load differs, and what is decided by stays. */
    boolean limitsAs(Knobs other) {
        return limit == other.limit && burst == other.burst;
    }
}
