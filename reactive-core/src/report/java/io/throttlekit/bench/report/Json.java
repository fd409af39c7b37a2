package io.throttlekit.bench.report;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;

/** Writes maps, lists, numbers, booleans and text as JSON. */
final class Json {
    private Json() {}

    static String of(Object value) {
        if (value instanceof Map<?, ?> map) {
            StringJoiner members = new StringJoiner(", ", "{", "}");
            map.forEach((name, member) -> members.add(text(String.valueOf(name)) + ": " + of(member)));
            return members.toString();
        }
        if (value instanceof List<?> list) {
            StringJoiner elements = new StringJoiner(", ", "[", "]");
            list.forEach(element -> elements.add(of(element)));
            return elements.toString();
        }
        if (value instanceof Double number && !Double.isFinite(number)) {
            return "null";
        }
        return value instanceof Number || value instanceof Boolean ? value.toString() : text(value.toString());
    }

    private static String text(String value) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : value.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
