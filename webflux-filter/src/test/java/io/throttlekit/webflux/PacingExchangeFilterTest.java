package io.throttlekit.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.QueueFullException;
import io.throttlekit.shaping.LeakyBucket;
import io.throttlekit.shaping.Shaper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpStatus;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

class PacingExchangeFilterTest {
    private static final Duration HALF = Duration.ofMillis(500);

    private final Shaper shaper = LeakyBucket.of(2, Duration.ofSeconds(1))
            .maxQueue(Duration.ofSeconds(1))
            .build();
    private final List<String> sent = new ArrayList<>();
    private final WebClient client = client(PacingExchangeFilter.of(shaper));

    /** A client whose requests end in {@link #sent}, with the time. */
    private WebClient client(PacingExchangeFilter filter) {
        return WebClient.builder()
                .filter(filter)
                .exchangeFunction(request -> {
                    long now = Schedulers.parallel().now(TimeUnit.MILLISECONDS);
                    sent.add(request.url().getHost() + " " + now);
                    return Mono.just(ClientResponse.create(HttpStatus.OK).build());
                })
                .build();
    }

    private static Mono<HttpStatus> get(WebClient client, String url) {
        return client.get()
                .uri(url)
                .exchangeToMono(response ->
                        Mono.just(HttpStatus.valueOf(response.statusCode().value())));
    }

    @Test
    void pacesRequestsPerHost() {
        StepVerifier.withVirtualTime(() -> Flux.just("http://a/1", "http://A:81/2", "http://b/1", "https://a/3")
                        .flatMap(url -> get(client, url)))
                .expectNext(HttpStatus.OK, HttpStatus.OK)
                .expectNoEvent(HALF)
                .expectNext(HttpStatus.OK)
                .expectNoEvent(HALF)
                .expectNext(HttpStatus.OK)
                .verifyComplete();

        assertThat(sent).containsExactly("a 0", "b 0", "A 500", "a 1000");
    }

    @Test
    void failsWhenTheLineIsTooLong() {
        StepVerifier.withVirtualTime(() -> Flux.range(0, 4).flatMap(n -> get(client, "http://a/" + n)))
                .expectNext(HttpStatus.OK)
                .verifyError(QueueFullException.class);

        assertThat(sent).hasSize(1);
        assertThat(shaper.reserveSync("a").delayMs()).isZero();
    }

    @Test
    void sendsNothingWhenItIsCancelledAndGivesThePlaceBack() {
        StepVerifier.withVirtualTime(() -> get(client, "http://a/1").then(get(client, "http://a/2")))
                .expectSubscription()
                .thenAwait(Duration.ofMillis(100))
                .then(() -> assertThat(sent).containsExactly("a 0"))
                .thenCancel()
                .verify();

        assertThat(sent).hasSize(1);
    }

    @Test
    void takesAnotherKey() {
        WebClient byPath = client(
                PacingExchangeFilter.of(shaper).keyedBy(request -> request.url().getPath()));

        StepVerifier.withVirtualTime(() ->
                        Flux.just("http://a/1", "http://b/1", "http://a/2").flatMap(url -> get(byPath, url)))
                .expectNext(HttpStatus.OK, HttpStatus.OK)
                .expectNoEvent(HALF)
                .expectNext(HttpStatus.OK)
                .verifyComplete();

        assertThat(sent).containsExactly("a 0", "a 0", "b 500");
    }

    @Test
    void refusesAUrlWithoutAHost() {
        StepVerifier.create(get(client, "/relative")).verifyError(IllegalArgumentException.class);
    }
}
