package io.throttlekit.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What one suite found: ratios with their bars, and the figures behind them.
 *
 * <p>{@link #write} leaves the suite's part in a directory of this run of Maven and joins all parts found there to
 * {@code target/bench/results.md} and {@code results.json}. So the files are whole after every suite, whichever ran,
 * in whichever module.
 *
 * <pre>{@code
 * Report report = Report.of("http");
 * report.ratio("vertx: limited / bare", 1.03, Bar.atMost(1.05), "why, in case the bar is missed");
 * report.table("server", "CPU us/request").row("vertx bare", 21.4).row("vertx limited", 22.1);
 * report.write();
 * }</pre>
 */
public final class Report {
    private static final List<String> ORDER =
            List.of("core", "redis", "pg", "twotier", "shaping", "concurrency", "http");

    private final String suite;
    private final List<String> ratioRows = new ArrayList<>();
    private final List<String> ratioObjects = new ArrayList<>();
    private final List<Table> tables = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();

    private Report(String suite) {
        this.suite = suite;
    }

    /** A report of nothing yet. */
    public static Report of(String suite) {
        return new Report(suite);
    }

    /** Adds a ratio without a bar, or none where something was not measured. */
    public Report ratio(String name, double value) {
        return ratio(name, value, Bar.NONE, "");
    }

    /** Adds a ratio, or none where something was not measured. */
    public Report ratio(String name, double value, Bar bar) {
        return ratio(name, value, bar, "");
    }

    /** Adds a ratio, and the reason that is shown where it misses its bar or has none. */
    public Report ratio(String name, double value, Bar bar, String reason) {
        if (Double.isNaN(value)) {
            return this;
        }
        boolean missed = !bar.isNone() && !bar.passes(value);
        String verdict = bar.isNone() ? reason : missed ? "**fail**" : "pass";
        ratioRows.add(String.format(
                Locale.ROOT,
                "| %s | %s | %.2f | %s | %s |",
                suite,
                name,
                value,
                bar,
                missed && !reason.isEmpty() ? verdict + ": " + reason : verdict));
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("suite", suite);
        object.put("name", name);
        object.put("value", value);
        if (!bar.isNone()) {
            object.put(bar.most() ? "atMost" : "atLeast", bar.value());
            object.put("pass", !missed);
        }
        ratioObjects.add(Json.of(object));
        return this;
    }

    /** Begins a table; the title heads the column that names the rows. */
    public Table table(String title, String... columns) {
        Table table = new Table(title, columns);
        tables.add(table);
        return table;
    }

    /** Adds a sentence above the suite's figures. */
    public Report note(String sentence) {
        notes.add(sentence);
        return this;
    }

    /** Writes the part, and the two files anew. */
    public void write() throws IOException {
        Path directory = Path.of(System.getProperty("bench.directory", "target/bench"));
        String run = System.getProperty("bench.run", Instant.now().toString().replace(':', '-'));
        Path parts = Files.createDirectories(directory.resolve("parts").resolve(run));
        Path part = free(parts);
        StringBuilder figures = new StringBuilder("\n## " + suite + "\n");
        notes.forEach(note -> figures.append('\n').append(note).append('\n'));
        tables.forEach(table -> figures.append(table.markdown()));
        Files.write(Path.of(part + ".ratios.md"), ratioRows);
        Files.write(Path.of(part + ".ratios.json"), ratioObjects);
        Files.writeString(Path.of(part + ".figures.md"), figures);
        Files.write(
                Path.of(part + ".figures.json"),
                tables.stream().map(table -> table.json(suite)).toList());
        join(directory, parts, run);
    }

    /** A suite may run in two modules. */
    private Path free(Path parts) {
        for (int n = 1; ; n++) {
            Path part = parts.resolve((ORDER.indexOf(suite) + 1) + "-" + suite + "-" + n);
            if (!Files.exists(Path.of(part + ".ratios.md"))) {
                return part;
            }
        }
    }

    private static void join(Path directory, Path parts, String run) throws IOException {
        Map<String, String> environment = Environment.now(run);
        List<String> markdown = new ArrayList<>(List.of("# Benchmarks", ""));
        environment.forEach((name, value) -> markdown.add("* " + name + ": " + value));
        markdown.addAll(List.of("", "| suite | ratio | value | bar | |", "|---|---|--:|--:|---|"));
        markdown.addAll(lines(parts, ".ratios.md"));
        markdown.addAll(lines(parts, ".figures.md"));
        Files.write(directory.resolve("results.md"), markdown);
        Files.writeString(
                directory.resolve("results.json"),
                "{\n\"environment\": " + Json.of(environment)
                        + ",\n\"ratios\": [\n" + String.join(",\n", lines(parts, ".ratios.json"))
                        + "\n],\n\"figures\": [\n" + String.join(",\n", lines(parts, ".figures.json"))
                        + "\n]\n}\n");
    }

    private static List<String> lines(Path parts, String ending) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.list(parts)) {
            files = all.filter(file -> file.toString().endsWith(ending))
                    .sorted()
                    .toList();
        }
        List<String> lines = new ArrayList<>();
        for (Path file : files) {
            lines.addAll(Files.readAllLines(file));
        }
        return lines;
    }
}
