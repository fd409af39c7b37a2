package io.throttlekit.conformance;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.time.Duration;

/**
 * Typed access to the fields of a JSON object; numbers are exact decimals.
 *
 * @param node the object
 */
record Fields(JsonNode node) {
    static Fields of(JsonNode node) {
        return new Fields(node);
    }

    boolean has(String name) {
        return node.hasNonNull(name);
    }

    BigDecimal decimal(String name) {
        JsonNode value = node.path(name);
        if (value.isNumber()) {
            return value.decimalValue();
        }
        try {
            return new BigDecimal(value.asText());
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + " must be a number, was " + value, e);
        }
    }

    long whole(String name) {
        return exact(name, decimal(name));
    }

    long whole(String name, long absent) {
        return has(name) ? whole(name) : absent;
    }

    /** A time in milliseconds that may have digits down to the microsecond. */
    Duration millis(String name) {
        long micros = exact(name + " in microseconds", decimal(name).movePointRight(3));
        return Duration.ofMillis(Math.floorDiv(micros, 1000L)).plusNanos(Math.floorMod(micros, 1000L) * 1000);
    }

    String text(String name, String absent) {
        return node.path(name).asText(absent);
    }

    private static long exact(String name, BigDecimal value) {
        try {
            return value.longValueExact();
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException(name + " must be a whole number of 64 bits, was " + value, e);
        }
    }
}
