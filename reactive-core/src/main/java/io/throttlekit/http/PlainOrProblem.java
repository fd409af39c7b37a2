package io.throttlekit.http;

import java.util.List;
import java.util.Locale;

/** Chooses between the two bodies by {@code Accept}, RFC 9110, 12.5.1. What it cannot read does not count. */
final class PlainOrProblem {
    static final String PLAIN = "text/plain;charset=utf-8";

    private PlainOrProblem() {}

    static boolean prefersPlain(List<String> accept) {
        if (accept.isEmpty()) {
            return false;
        }
        Preference plain = new Preference("text/plain", "text/*");
        Preference problem = new Preference(Problem.MEDIA_TYPE, "application/*");
        Preference json = new Preference("application/json", "application/*");
        for (String line : accept) {
            for (String range : line.split(",", -1)) {
                String[] parts = range.strip().toLowerCase(Locale.ROOT).split(";", -1);
                double quality = quality(parts);
                plain.offer(parts[0].strip(), quality);
                problem.offer(parts[0].strip(), quality);
                json.offer(parts[0].strip(), quality);
            }
        }
        return plain.quality > Math.max(problem.quality, json.quality);
    }

    private static double quality(String[] parts) {
        for (int i = 1; i < parts.length; i++) {
            String parameter = parts[i].strip();
            if (parameter.startsWith("q=")) {
                try {
                    double quality = Double.parseDouble(parameter.substring(2).strip());
                    return quality >= 0 && quality <= 1 ? quality : 0;
                } catch (NumberFormatException e) {
                    return 0;
                }
            }
        }
        return 1;
    }

    /** How much a type is wanted: the most specific range that names it decides. */
    private static final class Preference {
        private final String type;
        private final String family;
        private int specific;
        private double quality;

        Preference(String type, String family) {
            this.type = type;
            this.family = family;
        }

        void offer(String range, double offered) {
            int precision = range.equals(type) ? 3 : range.equals(family) ? 2 : range.equals("*/*") ? 1 : 0;
            if (precision > 0 && precision >= specific) {
                specific = precision;
                quality = offered;
            }
        }
    }
}
