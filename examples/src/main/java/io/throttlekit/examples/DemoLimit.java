package io.throttlekit.examples;

import io.throttlekit.Strategy;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.Quota;
import io.throttlekit.strategy.SlidingWindow;
import io.throttlekit.strategy.TokenBucket;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A limit that the demo puts on a path, with what it must let through of steady traffic.
 *
 * @param name the path, and the policy's name
 * @param title what the table calls it
 * @param strategy the limit
 * @param offered requests per second that the demo sends
 * @param perSecond requests per second that the limit lets through in the long run
 * @param bounds what it lets through in a short run
 */
record DemoLimit(String name, String title, Strategy<?> strategy, int offered, double perSecond, Bounds bounds) {

    static final List<DemoLimit> ALL = List.of(
            new DemoLimit(
                    "gcra",
                    "gcra 50/s, burst 10",
                    Gcra.of(50, Duration.ofSeconds(1)).withBurst(10),
                    200,
                    50,
                    refilling(10, 50)),
            new DemoLimit(
                    "token-bucket",
                    "token bucket of 20, 25/s",
                    TokenBucket.of(20, 25, Duration.ofSeconds(1)),
                    80,
                    25,
                    refilling(20, 25)),
            new DemoLimit(
                    "sliding-window",
                    "sliding window, 40 per 1 s",
                    SlidingWindow.of(40, Duration.ofSeconds(1)),
                    100,
                    40,
                    sliding(40, Duration.ofSeconds(1), 10)),
            new DemoLimit(
                    "fixed-window",
                    "fixed window, 30 per 1 s",
                    FixedWindow.of(30, Duration.ofSeconds(1)),
                    80,
                    30,
                    windows(30, Duration.ofSeconds(1))),
            new DemoLimit(
                    "quota", "quota, 60 per day", Quota.daily(60), 40, 60 / 86_400.0, windows(60, Duration.ofDays(1))));

    /** What may be let through of some traffic, and what must be. Times are epoch seconds, ascending. */
    interface Bounds {
        /** The most, whatever the traffic, from before the first request to after the last answer. */
        double most(double from, double to);

        /** About what a limit lets through of requests at these times. */
        double ideal(double[] times);
    }

    private static Bounds refilling(int burst, double perSecond) {
        return new Bounds() {
            @Override
            public double most(double from, double to) {
                return burst + (to - from) * perSecond;
            }

            @Override
            public double ideal(double[] times) {
                double tokens = burst;
                double last = times[0];
                long taken = 0;
                for (double time : times) {
                    tokens = Math.min(burst, tokens + (time - last) * perSecond);
                    last = time;
                    if (tokens >= 1) {
                        tokens--;
                        taken++;
                    }
                }
                return taken;
            }
        };
    }

    private static Bounds windows(long limit, Duration window) {
        return new Bounds() {
            private long windowOf(double time) {
                return (long) Math.floor(time / window.toSeconds());
            }

            @Override
            public double most(double from, double to) {
                return limit * (windowOf(to) - windowOf(from) + 1.0);
            }

            @Override
            public double ideal(double[] times) {
                return Arrays.stream(times)
                        .mapToObj(this::windowOf)
                        .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()))
                        .values()
                        .stream()
                        .mapToLong(requests -> Math.min(limit, requests))
                        .sum();
            }
        };
    }

    private static Bounds sliding(long limit, Duration window, int buckets) {
        Bounds aligned = windows(limit, window);
        // A request is forgotten a bucket's width late, bit by bit; here all of it as late as that.
        double memory = window.toSeconds() * (1 + 1.0 / buckets);
        return new Bounds() {
            @Override
            public double most(double from, double to) {
                return aligned.most(from, to);
            }

            @Override
            public double ideal(double[] times) {
                Deque<Double> remembered = new ArrayDeque<>();
                long taken = 0;
                for (double time : times) {
                    while (!remembered.isEmpty() && remembered.peek() <= time - memory) {
                        remembered.remove();
                    }
                    if (remembered.size() < limit) {
                        remembered.add(time);
                        taken++;
                    }
                }
                return taken;
            }
        };
    }
}
