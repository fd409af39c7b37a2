package io.throttlekit.bench;

import io.throttlekit.bench.report.Report;
import io.throttlekit.bench.report.Table;
import io.throttlekit.shaping.LeakyBucket;
import io.throttlekit.shaping.Shaper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import reactor.core.publisher.Flux;

/** When elements really leave, of a source that is always ready: our operator, and what one would write without it. */
final class Departures {
    private static final Duration LONG = Duration.ofHours(1);

    private final String name;
    private final int rate;
    /** Nanoseconds since the first departure. */
    private final long[] at;

    private Departures(String name, int rate, long[] at) {
        this.name = name;
        this.rate = rate;
        this.at = at;
    }

    static Departures ours(int rate, Duration time) {
        Shaper shaper =
                LeakyBucket.of(rate, Duration.ofSeconds(1)).maxQueue(LONG).build();
        Flux<Integer> paced = Flux.range(0, Integer.MAX_VALUE).transform(shaper.pace("k"));
        // The first departure is this one, and it is told rather than measured: nothing had to be signalled.
        shaper.reserveSync("k");
        return record("pace, " + rate + "/s", rate, time, System.nanoTime(), paced);
    }

    static Departures delayElements(int rate, Duration time) {
        Duration interval = Duration.ofSeconds(1).dividedBy(rate);
        return record(
                "delayElements, " + rate + "/s",
                rate,
                time,
                Flux.range(0, Integer.MAX_VALUE).delayElements(interval));
    }

    static Departures intervalZip(int rate, Duration time) {
        Duration interval = Duration.ofSeconds(1).dividedBy(rate);
        return record(
                "interval.zip, " + rate + "/s",
                rate,
                time,
                Flux.interval(interval).onBackpressureBuffer().zipWith(Flux.range(0, Integer.MAX_VALUE)));
    }

    private static Departures record(String name, int rate, Duration time, Flux<?> paced) {
        return record(name, rate, time, 0, paced);
    }

    /** Records until the time is over, counted from a first departure or, when that is 0, from the first seen. */
    private static Departures record(String name, int rate, Duration time, long first, Flux<?> paced) {
        long[] at = new long[(int) (rate * time.toSeconds() * 2)];
        at[0] = first;
        int[] count = new int[] {first == 0 ? 0 : 1};
        paced.takeWhile(element -> {
                    long now = System.nanoTime();
                    at[count[0]++] = now;
                    return now - at[0] < time.toNanos();
                })
                .blockLast();
        long[] since = new long[count[0] - 1];
        Arrays.setAll(since, n -> at[n] - at[0]);
        return new Departures(name, rate, since);
    }

    double perSecond() {
        return (at.length - 1) * 1e9 / at[at.length - 1];
    }

    /** How many more had left, at the worst moment, than {@code rate·t + 1}; below 0 when there never were. */
    double excess() {
        double worst = Double.NEGATIVE_INFINITY;
        for (int n = 1; n < at.length; n++) {
            worst = Math.max(worst, n - at[n] * (rate / 1e9));
        }
        return worst;
    }

    /** Microseconds behind the schedule of the first, at a quantile. */
    double lateMicros(double quantile) {
        double[] late = new double[at.length];
        Arrays.setAll(late, n -> at[n] / 1e3 - n * (1e6 / rate));
        Arrays.sort(late);
        return late[(int) (quantile * (late.length - 1))];
    }

    private static void print(Departures d, Table table) {
        table.row(d.name, d.perSecond(), d.lateMicros(0.5), d.lateMicros(0.99), d.excess());
        System.out.printf(
                Locale.ROOT,
                "%-24s %10.2f %8.3f %% %10.0f %10.0f %9.2f%n",
                d.name,
                d.perSecond(),
                (d.perSecond() / d.rate - 1) * 100,
                d.lateMicros(0.5),
                d.lateMicros(0.99),
                d.excess());
    }

    /** Runs all of them, prints a table, and draws how far each falls behind. */
    static void run(Path picture, Report report) throws IOException {
        record(
                "warm-up",
                5_000,
                Duration.ofSeconds(2),
                Flux.range(0, Integer.MAX_VALUE)
                        .transform(LeakyBucket.of(5_000, Duration.ofSeconds(1))
                                .maxQueue(LONG)
                                .build()
                                .pace("k")));
        Map<String, Departures> all = new LinkedHashMap<>();
        Duration ten = Duration.ofSeconds(10);
        all.put("pace", ours(1_000, ten));
        all.put("delayElements", delayElements(1_000, ten));
        all.put("interval.zip", intervalZip(1_000, ten));
        Departures fast = ours(10_000, Duration.ofSeconds(5));
        System.out.printf(
                "%n%-24s %10s %10s %10s %10s %9s%n", "departures", "per second", "off", "p50 us", "p99 us", "excess");
        Table table = report.table("departures", "per second", "p50 us late", "p99 us late", "excess");
        all.values().forEach(d -> print(d, table));
        print(fast, table);
        Files.writeString(picture, svg(all));
        System.out.println("picture: " + picture.toAbsolutePath());
    }

    private static String svg(Map<String, Departures> all) {
        String[] colours = {"#0a7d4b", "#c0392b", "#7f8c8d"};
        StringBuilder svg = new StringBuilder("""
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 360" font-family="sans-serif" font-size="13">
                <rect width="720" height="360" fill="white"/>
                <text x="60" y="24" font-size="15">Elements that have left, less 1,000 per second</text>
                <line x1="60" y1="320" x2="660" y2="320" stroke="black"/>
                <line x1="60" y1="40" x2="60" y2="320" stroke="black"/>
                """);
        double lowest = -100;
        for (Departures d : all.values()) {
            lowest = Math.min(lowest, d.at.length - 1 - d.at[d.at.length - 1] * (d.rate / 1e9));
        }
        for (int second = 0; second <= 10; second++) {
            text(svg, 55 + second * 60, 340, second + (second == 10 ? " s" : ""), "black");
        }
        for (int i = 0; i <= 4; i++) {
            text(svg, 15, 64 + (int) (i * 62.5), String.valueOf(Math.round(lowest * i / 4)), "black");
        }
        int line = 0;
        for (Map.Entry<String, Departures> entry : all.entrySet()) {
            Departures d = entry.getValue();
            String colour = colours[line];
            svg.append("<polyline fill=\"none\" stroke-width=\"2\" stroke=\"")
                    .append(colour)
                    .append("\" points=\"");
            int step = Math.max(1, d.at.length / 300);
            for (int n = 0; n < d.at.length; n += step) {
                double behind = n - d.at[n] * (d.rate / 1e9);
                svg.append(
                        String.format(Locale.ROOT, "%.1f,%.1f ", 60 + d.at[n] / 1e9 * 60, 60 + behind / lowest * 250));
            }
            svg.append("\"/>\n");
            text(svg, 80, 250 + 20 * line, entry.getKey(), colour);
            line++;
        }
        return svg.append("</svg>\n").toString();
    }

    private static void text(StringBuilder svg, int x, int y, String text, String colour) {
        svg.append("<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>%n".formatted(x, y, colour, text));
    }
}
