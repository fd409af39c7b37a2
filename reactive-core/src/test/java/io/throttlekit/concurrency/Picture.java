package io.throttlekit.concurrency;

import io.throttlekit.concurrency.Simulation.Point;
import java.util.List;
import java.util.Locale;

/** Limits over time, on a logarithmic scale, as an SVG. */
final class Picture {
    private static final int LEFT = 50;
    private static final int TOP = 20;
    private static final int WIDTH = 760;
    private static final int HEIGHT = 300;

    private final int millis;
    private final int most;
    private final StringBuilder body = new StringBuilder();
    private int legend;

    Picture(int capacity, int millis, int most) {
        this.millis = millis;
        this.most = most;
        body.append("<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
        for (int limit : new int[] {4, 10, 20, 50, 100, 200, 500}) {
            add(
                    "<line x1=\"%d\" x2=\"%d\" y1=\"%3$.1f\" y2=\"%3$.1f\" stroke=\"#ddd\"/>",
                    LEFT, LEFT + WIDTH, y(limit));
            add("<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%d</text>", LEFT - 6, y(limit) + 4, limit);
        }
        for (int second = 0; second <= millis / 1000; second += 5) {
            add(
                    "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d s</text>",
                    x(second * 1000L), TOP + HEIGHT + 18, second);
        }
        add(
                "<line x1=\"%d\" x2=\"%d\" y1=\"%3$.1f\" y2=\"%3$.1f\" stroke=\"black\" stroke-dasharray=\"4 3\"/>",
                LEFT, LEFT + WIDTH, y(capacity));
        add("<text x=\"%d\" y=\"%.1f\">capacity</text>", LEFT + 6, y(capacity) - 4);
    }

    private double x(long at) {
        return LEFT + (double) WIDTH * at / millis;
    }

    private double y(int limit) {
        return TOP + HEIGHT * (1 - StrictMath.log(limit / 3.0) / StrictMath.log(most / 3.0));
    }

    private void add(String format, Object... values) {
        body.append(String.format(Locale.ROOT, format, values)).append('\n');
    }

    Picture note(long at, String text) {
        add(
                "<line x1=\"%1$.1f\" x2=\"%1$.1f\" y1=\"%2$d\" y2=\"%3$d\" stroke=\"#999\" stroke-dasharray=\"2 3\"/>",
                x(at), TOP, TOP + HEIGHT);
        add("<text x=\"%.1f\" y=\"%d\" fill=\"#555\">%s</text>", x(at) + 4, TOP + HEIGHT - 6, text);
        return this;
    }

    Picture line(String name, String colour, List<Point> points) {
        StringBuilder path = new StringBuilder();
        for (int i = 0; i < points.size(); i += 5) {
            Point point = points.get(i);
            path.append(String.format(Locale.ROOT, "%.1f,%.1f ", x(point.millis()), y(point.limit())));
        }
        add(
                "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" points=\"%s\"/>",
                colour, path.toString().trim());
        add(
                "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>",
                LEFT + 140 + 130 * legend++, TOP + HEIGHT + 40, colour, name);
        return this;
    }

    String svg() {
        return String.format(
                        Locale.ROOT,
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\""
                                + " font-size=\"12\">%n%s</svg>%n",
                        LEFT + WIDTH + 20,
                        TOP + HEIGHT + 50,
                        body)
                .replace("\r\n", "\n");
    }
}
