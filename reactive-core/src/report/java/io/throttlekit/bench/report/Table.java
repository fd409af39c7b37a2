package io.throttlekit.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Figures of one kind, a row per contender. */
public final class Table {
    private final String title;
    private final String[] columns;
    private final StringBuilder markdown = new StringBuilder();
    private final List<String> json = new ArrayList<>();

    Table(String title, String[] columns) {
        this.title = title;
        this.columns = columns;
        markdown.append("\n| ").append(title);
        for (String column : columns) {
            markdown.append(" | ").append(column);
        }
        markdown.append(" |\n|---").append("|--:".repeat(columns.length)).append("|\n");
    }

    /** Adds a row: what it is of, and a figure for each column. */
    public Table row(String name, double... figures) {
        markdown.append("| ").append(name);
        Map<String, Object> values = new LinkedHashMap<>();
        for (int i = 0; i < figures.length; i++) {
            markdown.append(" | ").append(digits(figures[i]));
            values.put(columns[i], figures[i]);
        }
        markdown.append(" |\n");
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("name", name);
        row.put("values", values);
        json.add(Json.of(row));
        return this;
    }

    String markdown() {
        return markdown.toString();
    }

    String json(String suite) {
        return "{\"suite\": " + Json.of(suite) + ", \"table\": " + Json.of(title) + ", \"rows\": ["
                + String.join(", ", json) + "]}";
    }

    private static String digits(double figure) {
        double size = Math.abs(figure);
        return String.format(Locale.ROOT, size >= 1_000 ? "%,.0f" : size >= 10 ? "%.1f" : "%.2f", figure);
    }
}
