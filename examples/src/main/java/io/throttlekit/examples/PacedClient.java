package io.throttlekit.examples;

import static java.util.Objects.requireNonNull;

import io.throttlekit.QueueFullException;
import io.throttlekit.shaping.LeakyBucket;
import io.throttlekit.shaping.Shaper;
import io.throttlekit.webflux.PacingExchangeFilter;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Flux;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/**
 * A {@code WebClient} that sends two requests per second and host, however many it is given at once, and lets
 * none wait longer than 1.6 s.
 *
 * <p>It prints, with the times of departure to the nearest half second,
 *
 * <pre>{@code
 * /1: sent after 0.0 s, 200
 * /2: sent after 0.5 s, 200
 * /3: sent after 1.0 s, 200
 * /4: sent after 1.5 s, 200
 * /5: not sent, the queue is full
 * }</pre>
 */
public final class PacedClient {
    private static final double HALF_A_SECOND = 500_000_000;

    /** When a path was asked for, by {@link System#nanoTime}. */
    private final Map<String, Long> sent = new ConcurrentHashMap<>();

    private PacedClient() {}

    /**
     * Runs once and ends.
     *
     * @param args none
     */
    public static void main(String[] args) {
        run(System.out);
    }

    static void run(PrintStream out) {
        DisposableServer upstream = HttpServer.create()
                .host("127.0.0.1")
                .handle((request, response) -> response.send())
                .bindNow();
        WebClient unpaced = WebClient.create("http://127.0.0.1:" + upstream.port());
        // The first request of a JVM takes its time, which is not what is shown here.
        unpaced.get().uri("/").retrieve().toBodilessEntity().block();
        Shaper shaper = LeakyBucket.of(2, Duration.ofSeconds(1))
                .maxQueue(Duration.ofMillis(1_600))
                .build();

        new PacedClient().requests(unpaced, shaper).doOnNext(out::println).blockLast();

        shaper.close().block();
        upstream.disposeNow();
    }

    /** Sends all at once; the filter makes them wait for their turns. */
    private Flux<String> requests(WebClient unpaced, Shaper shaper) {
        WebClient client = unpaced.mutate()
                .filter(PacingExchangeFilter.of(shaper))
                .filter((request, next) -> {
                    sent.put(request.url().getPath(), System.nanoTime());
                    return next.exchange(request);
                })
                .build();
        return Flux.range(1, 5)
                .map(i -> "/" + i)
                .flatMapSequential(path -> client.get()
                        .uri(path)
                        .retrieve()
                        .toBodilessEntity()
                        .map(response -> path + ": sent after " + secondsAfterTheFirst(path) + " s, "
                                + response.getStatusCode().value())
                        .onErrorReturn(QueueFullException.class, path + ": not sent, the queue is full"));
    }

    private double secondsAfterTheFirst(String path) {
        long nanos = requireNonNull(sent.get(path)) - requireNonNull(sent.get("/1"));
        return Math.round(nanos / HALF_A_SECOND) / 2.0;
    }
}
