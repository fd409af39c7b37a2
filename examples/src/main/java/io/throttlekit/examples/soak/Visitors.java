package io.throttlekit.examples.soak;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/** Clients that ask at a steady rate, of whom a few do not wait for the answer. */
final class Visitors implements AutoCloseable {
    private static final Duration BETWEEN = Duration.ofMillis(40);
    private static final Duration TOO_LONG = Duration.ofSeconds(10);
    private static final int AT_ONCE = 128;
    private static final int ONE_IN = 20;

    final LongAdder asked = new LongAdder();
    final LongAdder left = new LongAdder();

    private final ConnectionProvider connections = ConnectionProvider.builder("soak")
            .maxConnections(AT_ONCE)
            .pendingAcquireMaxCount(-1)
            .build();
    private final HttpClient client = HttpClient.create(connections);
    private final Consumer<String> violations;

    Visitors(Consumer<String> violations) {
        this.violations = violations;
    }

    /** Asks for one path until told to end; completes when the last has been answered. */
    Mono<Void> visit(Site site, String policy, Publisher<?> end) {
        return Flux.interval(BETWEEN)
                .onBackpressureDrop()
                .takeUntilOther(end)
                .flatMap(tick -> one(site, policy), AT_ONCE)
                .then();
    }

    private Mono<Void> one(Site site, String policy) {
        asked.increment();
        Mono<Integer> answer = client.get()
                .uri(site.uri(policy))
                .responseSingle((response, body) ->
                        body.then(Mono.just(response.status().code())))
                .timeout(TOO_LONG);
        if (ThreadLocalRandom.current().nextInt(ONE_IN) == 0) {
            left.increment();
            Duration patience = Duration.ofMillis(ThreadLocalRandom.current().nextInt(5));
            return answer.takeUntilOther(Mono.delay(patience)).onErrorComplete().then();
        }
        return answer.doOnNext(status -> {
                    if (status != 200 && status != 429 && status != 503) {
                        violations.accept(site.name() + ", " + policy + ": answered with " + status);
                    }
                })
                .onErrorResume(error -> {
                    violations.accept(site.name() + ", " + policy + ": " + error);
                    return Mono.empty();
                })
                .then();
    }

    /** Ends the connections that are kept. */
    @Override
    public void close() {
        connections.disposeLater().block(TOO_LONG);
    }
}
