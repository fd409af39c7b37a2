package io.throttlekit.strategy;

import java.nio.charset.StandardCharsets;

/** States as text: whole numbers with colons between. */
final class Text {
    private Text() {}

    static byte[] of(long... numbers) {
        StringBuilder text = new StringBuilder();
        for (long number : numbers) {
            if (text.length() > 0) {
                text.append(':');
            }
            text.append(number);
        }
        return text.toString().getBytes(StandardCharsets.US_ASCII);
    }

    /** Reads exactly {@code count} numbers. */
    static long[] numbers(byte[] bytes, int count) {
        long[] numbers = numbers(bytes);
        if (numbers.length != count) {
            throw new IllegalArgumentException("state must have " + count + " numbers, had " + numbers.length);
        }
        return numbers;
    }

    /** Reads one number or more. */
    static long[] numbers(byte[] bytes) {
        String[] parts = new String(bytes, StandardCharsets.US_ASCII).split(":", -1);
        long[] numbers = new long[parts.length];
        for (int i = 0; i < parts.length; i++) {
            try {
                numbers[i] = Long.parseLong(parts[i]);
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException("state must be whole numbers with colons between", e);
            }
        }
        return numbers;
    }
}
