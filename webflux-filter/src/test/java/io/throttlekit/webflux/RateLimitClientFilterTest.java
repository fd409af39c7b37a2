package io.throttlekit.webflux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.web.reactive.function.server.RequestPredicates.GET;
import static org.springframework.web.reactive.function.server.RouterFunctions.route;

import io.throttlekit.FailMode;
import io.throttlekit.RateLimitExceededException;
import io.throttlekit.Store;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.conformance.GatedStore;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.FixedWindow;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class RateLimitClientFilterTest {
    private final MemoryStore memory = MemoryStore.create();
    private final AtomicInteger handled = new AtomicInteger();
    private final TestServer server = TestServer.start(
            route(GET("/"), request -> {
                handled.incrementAndGet();
                return ServerResponse.ok().bodyValue("hello");
            }),
            (exchange, error) -> Mono.error(error));

    @AfterEach
    void stop() {
        server.close();
        memory.close().block();
    }

    private Mono<String> hello(Store store, FailMode failMode) {
        Limiter limiter = Limiter.builder(FixedWindow.of(2, Duration.ofHours(1)))
                .store(store)
                .build();
        return WebClient.builder()
                .baseUrl("http://127.0.0.1:" + server.port())
                .filter(RateLimitClientFilter.of(
                        limiter, request -> request.url().getHost(), failMode))
                .build()
                .get()
                .uri("/")
                .retrieve()
                .bodyToMono(String.class);
    }

    @Test
    void sendsTheLimitAndFailsTheRestUnsent() {
        Mono<String> hello = hello(memory, FailMode.CLOSED);

        StepVerifier.create(hello.repeat(2))
                .expectNext("hello", "hello")
                .expectError(RateLimitExceededException.class)
                .verify(Duration.ofSeconds(10));

        assertThat(handled).hasValue(2);
    }

    @Test
    void goesOnOffTheThreadOfALateStore() {
        Store late = new GatedStore(memory, Mono.delay(Duration.ofMillis(20)).then());

        StepVerifier.create(hello(late, FailMode.CLOSED))
                .expectNext("hello")
                .expectComplete()
                .verify(Duration.ofSeconds(10));
    }

    @Test
    void followsTheFailModeWhenTheStoreIsDown() {
        Store down = new GatedStore(
                memory, Mono.error(() -> new StoreUnavailableException(Reason.CLOSED, false, "closed", null)));

        StepVerifier.create(hello(down, FailMode.OPEN))
                .expectNext("hello")
                .expectComplete()
                .verify(Duration.ofSeconds(10));
        StepVerifier.create(hello(down, FailMode.CLOSED))
                .expectError(StoreUnavailableException.class)
                .verify(Duration.ofSeconds(10));
    }

    @Test
    void cancelsTheCheck() {
        AtomicInteger cancelled = new AtomicInteger();
        Store hangs = new GatedStore(memory, Mono.<Void>never().doOnCancel(cancelled::incrementAndGet));

        StepVerifier.create(hello(hangs, FailMode.OPEN)).thenCancel().verify(Duration.ofSeconds(10));

        assertThat(cancelled).hasValue(1);
        assertThat(handled).hasValue(0);
    }
}
