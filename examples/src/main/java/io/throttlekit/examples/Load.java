package io.throttlekit.examples;

import io.throttlekit.examples.DemoLimit.Bounds;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Steady traffic on one limit of one server.
 *
 * @param server what the table calls the server
 * @param port where it listens on loopback
 * @param limit the limit, which says how much traffic
 */
record Load(String server, int port, DemoLimit limit) {
    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static final int MOST_AT_ONCE = 16;

    /** Sends as one client for the given time, at the limit's rate whatever the answers are. */
    Mono<Result> run(String apiKey, Duration time) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/" + limit.name()))
                .header("X-Api-Key", apiKey)
                .timeout(Duration.ofSeconds(10))
                .build();
        return Flux.interval(Duration.ofNanos(1_000_000_000L / limit.offered()))
                .take(limit.offered() * time.toSeconds())
                .onBackpressureBuffer()
                .flatMap(tick -> exchange(request), MOST_AT_ONCE)
                .collectList()
                .map(exchanges -> new Result(this, exchanges));
    }

    private static Mono<Exchange> exchange(HttpRequest request) {
        return Mono.defer(() -> {
            double sent = now();
            return Mono.fromFuture(() -> CLIENT.sendAsync(request, BodyHandlers.ofString()))
                    .map(response -> new Exchange(sent, now(), response));
        });
    }

    private static double now() {
        Instant now = Instant.now();
        return now.getEpochSecond() + now.getNano() / 1e9;
    }

    /** A request and its answer, with the times of both in epoch seconds. */
    record Exchange(double sent, double answered, HttpResponse<String> response) {}

    /**
     * A line of the table.
     *
     * @param load what was sent
     * @param exchanges what came of it
     */
    record Result(Load load, List<Exchange> exchanges) {
        /** So far below the ideal a limit may stay: it decided some time between a request and its answer. */
        private static final double TOLERANCE = 0.10;

        private static final String LINE = "%-8s %-27s %9s %9s %8s %7s %11s %11s  %-10s %s";

        static final String HEADINGS = String.format(
                LINE,
                "server",
                "limit",
                "requests",
                "offered/s",
                "allowed",
                "denied",
                "allowed/s",
                "limit/s",
                "must allow",
                "");

        long withStatus(int status) {
            return exchanges.stream()
                    .filter(exchange -> exchange.response().statusCode() == status)
                    .count();
        }

        HttpResponse<String> firstAllowed() {
            return first(200);
        }

        HttpResponse<String> firstDenied() {
            return first(429);
        }

        private HttpResponse<String> first(int status) {
            return exchanges.stream()
                    .map(Exchange::response)
                    .filter(response -> response.statusCode() == status)
                    .findFirst()
                    .orElseThrow();
        }

        /** Every answer is a 200 or a 429, and there are as many 200 as there must be. */
        boolean asItShould() {
            long allowed = withStatus(200);
            return allowed + withStatus(429) == exchanges.size() && allowed >= least() && allowed <= most();
        }

        private long most() {
            return (long) load.limit().bounds().most(first(), last());
        }

        private long least() {
            Bounds bounds = load.limit().bounds();
            double ideal = Math.min(bounds.ideal(times(Exchange::sent)), bounds.ideal(times(Exchange::answered)));
            return (long) (ideal * (1 - TOLERANCE));
        }

        private double first() {
            return times(Exchange::sent)[0];
        }

        private double last() {
            return times(Exchange::answered)[exchanges.size() - 1];
        }

        private double[] times(ToDoubleFunction<Exchange> time) {
            return exchanges.stream().mapToDouble(time).sorted().toArray();
        }

        @Override
        public String toString() {
            double seconds = last() - first();
            return String.format(
                    Locale.ROOT,
                    LINE,
                    load.server(),
                    load.limit().title(),
                    exchanges.size(),
                    perSecond(exchanges.size() / seconds),
                    withStatus(200),
                    withStatus(429),
                    perSecond(withStatus(200) / seconds),
                    perSecond(load.limit().perSecond()),
                    least() + ".." + most(),
                    asItShould() ? "ok" : "WRONG");
        }

        private static String perSecond(double rate) {
            return String.format(Locale.ROOT, rate < 0.1 ? "%.4f" : "%.1f", rate);
        }
    }
}
