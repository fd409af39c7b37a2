package io.throttlekit.examples;

import io.throttlekit.limiter.Limiter;
import io.throttlekit.store.MemoryStore;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;

/**
 * A WebFlux and a Vert.x server, limited by this library and driven with real requests.
 *
 * <p>It prints a table of what each limit let through, and the headers of one response of each kind. It exits
 * with 1 if a limit let through more than it may, or clearly less. With {@code -Ddemo.serve} it drives
 * nothing and serves on the ports 8080 and 8081 until it is stopped, with the page of the demo on the first.
 */
public final class Demo {
    private static final Duration WARM_UP = Duration.ofSeconds(1);
    private static final Duration RUN = Duration.ofSeconds(3);

    private final MemoryStore store = MemoryStore.create();
    private final Vertx vertx = Vertx.vertx();

    private Demo() {}

    /**
     * Runs the demo and ends the JVM.
     *
     * @param args none
     */
    public static void main(String[] args) {
        System.exit(Boolean.getBoolean("demo.serve") ? new Demo().serve() : new Demo().measure());
    }

    private int measure() {
        DisposableServer webFlux = WebFluxApp.start(0, limiters("webflux"));
        HttpServer vertx = vertxServer(0);
        System.out.printf(
                "ThrottleKit: %d limits on each of two servers over one MemoryStore, driven over HTTP for %d s.%n%n",
                DemoLimit.ALL.size(), RUN.toSeconds());
        // Both servers first get up to speed with a client whose requests do not count.
        drive("WebFlux", webFlux.port(), "warm-up", WARM_UP);
        drive("Vert.x", vertx.actualPort(), "warm-up", WARM_UP);
        List<Load.Result> results = new ArrayList<>(drive("WebFlux", webFlux.port(), "demo", RUN));
        results.addAll(drive("Vert.x", vertx.actualPort(), "demo", RUN));

        System.out.println(Load.Result.HEADINGS);
        results.forEach(System.out::println);
        Load.Result shown = results.get(0);
        print(shown.firstAllowed());
        print(shown.firstDenied());
        long wrong = results.stream().filter(result -> !result.asItShould()).count();
        System.out.println(
                wrong == 0 ? "\nEvery limit let through what it should." : "\n" + wrong + " limits are wrong.");
        return wrong == 0 ? 0 : 1;
    }

    /** Drives all limits of a server at once, as one client. */
    private static List<Load.Result> drive(String server, int port, String apiKey, Duration time) {
        return Flux.fromIterable(DemoLimit.ALL)
                .flatMapSequential(limit -> new Load(server, port, limit).run(apiKey, time))
                .collectList()
                .blockOptional()
                .orElseThrow();
    }

    private static void print(HttpResponse<String> response) {
        System.out.printf("%nGET %s -> %d%n", response.uri().getPath(), response.statusCode());
        response.headers()
                .map()
                .forEach((name, values) -> values.forEach(value -> System.out.println("  " + name + ": " + value)));
        System.out.println("  " + response.body().strip());
    }

    private int serve() {
        DisposableServer webFlux = WebFluxApp.start(8080, limiters("webflux"));
        vertxServer(8081);
        System.out.println("Both servers are up until this is stopped. See limiters at work: http://localhost:8080/");
        System.out.println("Look at the headers:");
        for (int port : new int[] {8080, 8081}) {
            for (DemoLimit limit : DemoLimit.ALL) {
                System.out.printf("curl -i http://localhost:%d/%-15s # %s%n", port, limit.name(), limit.title());
            }
        }
        System.out.println("and at what happens when a limit is used up:");
        System.out.println("for i in $(seq 70); do"
                + " curl -s -o /dev/null -w '%{http_code} ' http://localhost:8080/quota; done");
        webFlux.onDispose().block();
        return 0;
    }

    private HttpServer vertxServer(int port) {
        return Mono.fromCompletionStage(
                        () -> VertxApp.start(vertx, port, limiters("vertx")).toCompletionStage())
                .blockOptional()
                .orElseThrow();
    }

    /** A limiter per limit. They share the store, so each has a prefix of its own. */
    private Map<String, Limiter> limiters(String server) {
        Map<String, Limiter> limiters = new LinkedHashMap<>();
        for (DemoLimit limit : DemoLimit.ALL) {
            limiters.put(
                    limit.name(),
                    Limiter.builder(limit.strategy())
                            .store(store)
                            .prefix(server + "." + limit.name())
                            .build());
        }
        return limiters;
    }
}
