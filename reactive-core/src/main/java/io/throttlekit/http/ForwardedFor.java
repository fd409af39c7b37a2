package io.throttlekit.http;

import java.util.ArrayList;
import java.util.List;

/**
 * Reads the hops out of the two fields in which proxies tell where a request came from. What it gives are
 * texts that may or may not be addresses; nothing a client can send makes it fail.
 */
final class ForwardedFor {
    private ForwardedFor() {}

    /** The elements of {@code X-Forwarded-For}, from the client's end to ours. */
    static List<String> xForwardedFor(List<String> lines) {
        List<String> hops = new ArrayList<>();
        for (String line : lines) {
            for (String hop : line.split(",", -1)) {
                String text = hop.strip();
                // RFC 9110, 5.6.1.2: empty elements of a list do not count.
                if (!text.isEmpty()) {
                    hops.add(text);
                }
            }
        }
        return hops;
    }

    /**
     * The {@code for} of each element of {@code Forwarded}, RFC 7239. An element without one is a hop all the
     * same, of which nothing is known: leaving it out would shift the trust to somebody else's element.
     */
    static List<String> forwarded(List<String> lines) {
        List<String> hops = new ArrayList<>();
        for (String line : lines) {
            for (String element : split(line, ',')) {
                if (!element.isBlank()) {
                    hops.add(forOf(element));
                }
            }
        }
        return hops;
    }

    private static String forOf(String element) {
        for (String pair : split(element, ';')) {
            int equals = pair.indexOf('=');
            if (equals > 0 && pair.substring(0, equals).strip().equalsIgnoreCase("for")) {
                return unquoted(pair.substring(equals + 1).strip());
            }
        }
        return "";
    }

    private static String unquoted(String value) {
        if (value.length() < 2 || value.charAt(0) != '"' || value.charAt(value.length() - 1) != '"') {
            return value;
        }
        StringBuilder plain = new StringBuilder();
        for (int i = 1; i < value.length() - 1; i++) {
            char c = value.charAt(i);
            plain.append(c == '\\' && i < value.length() - 2 ? value.charAt(++i) : c);
        }
        return plain.toString();
    }

    /** Splits where no quoted string is open. */
    private static List<String> split(String text, char separator) {
        List<String> parts = new ArrayList<>();
        boolean quoted = false;
        int start = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (quoted && c == '\\') {
                i++;
            } else if (c == '"') {
                quoted = !quoted;
            } else if (c == separator && !quoted) {
                parts.add(text.substring(start, i));
                start = i + 1;
            }
        }
        parts.add(text.substring(start));
        return parts;
    }
}
