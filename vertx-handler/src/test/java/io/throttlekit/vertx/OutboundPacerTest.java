package io.throttlekit.vertx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.QueueFullException;
import io.throttlekit.conformance.GatedStore;
import io.throttlekit.shaping.LeakyBucket;
import io.throttlekit.shaping.Shaper;
import io.throttlekit.store.MemoryStore;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.RequestOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class OutboundPacerTest {
    private final Vertx vertx = Vertx.vertx();
    private final Context context = vertx.getOrCreateContext();
    private final Shaper shaper = LeakyBucket.of(10, Duration.ofSeconds(1))
            .maxQueue(Duration.ofMillis(200))
            .build();
    private final OutboundPacer pacer = OutboundPacer.create(vertx, shaper);

    @AfterEach
    void stop() {
        await(vertx.close());
    }

    private static <T> T await(Future<T> future) {
        try {
            return future.toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private <T> Future<T> inContext(Supplier<Future<T>> call) {
        Promise<T> promise = Promise.promise();
        context.runOnContext(ignored -> call.get().onComplete(promise));
        return promise.future();
    }

    private static Future<@Nullable Context> whereItRuns() {
        return Future.succeededFuture(Vertx.currentContext());
    }

    @Test
    void makesACallAtOnceWhenThereIsNothingToWaitFor() {
        boolean within = await(inContext(() -> {
            AtomicInteger calls = new AtomicInteger();
            Future<Integer> called = pacer.call("a", () -> Future.succeededFuture(calls.incrementAndGet()));
            return Future.succeededFuture(called.isComplete() && calls.get() == 1);
        }));

        assertThat(within).isTrue();
    }

    @Test
    void waitsForItsTurnAndComesBackToItsContext() {
        long start = System.nanoTime();

        List<Future<@Nullable Context>> calls = IntStream.range(0, 3)
                .mapToObj(n -> inContext(() -> pacer.call("a", OutboundPacerTest::whereItRuns)))
                .toList();
        await(Future.all(calls));

        assertThat(calls).allMatch(call -> call.result() == context);
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(200_000_000L);
    }

    @Test
    void comesBackFromAStoreThatAnswersLater() {
        OutboundPacer late = OutboundPacer.create(
                vertx,
                LeakyBucket.of(10, Duration.ofSeconds(1))
                        .maxQueue(Duration.ZERO)
                        .store(new GatedStore(
                                MemoryStore.create(),
                                Mono.delay(Duration.ofMillis(5)).then()))
                        .build());

        assertThat(await(inContext(() -> late.call("a", OutboundPacerTest::whereItRuns))))
                .isSameAs(context);
    }

    @Test
    void makesNoCallWhenTheLineIsTooLong() {
        AtomicInteger calls = new AtomicInteger();
        Shaper hourly = LeakyBucket.of(1, Duration.ofHours(1))
                .maxQueue(Duration.ofMinutes(1))
                .build();
        hourly.reserveSync("a");

        Future<Integer> second = inContext(() ->
                OutboundPacer.create(vertx, hourly).call("a", () -> Future.succeededFuture(calls.incrementAndGet())));

        assertThatThrownBy(() -> await(second)).hasRootCauseInstanceOf(QueueFullException.class);
        assertThat(calls).hasValue(0);
    }

    @Test
    void aCallThatThrowsFailsTheFuture() {
        Future<Integer> failed = inContext(() -> pacer.call("a", () -> {
            throw new IllegalStateException("boom");
        }));

        assertThatThrownBy(() -> await(failed)).hasRootCauseMessage("boom");
    }

    @Test
    void opensRequestsInTheLineOfTheirHost() {
        HttpServer server = await(vertx.createHttpServer()
                .requestHandler(request -> request.response().end("hello"))
                .listen(0, "127.0.0.1"));
        HttpClient client = vertx.createHttpClient();
        RequestOptions options = new RequestOptions()
                .setHost("127.0.0.1")
                .setPort(server.actualPort())
                .setURI("/");

        String body = await(inContext(() -> pacer.request(client, options)
                .compose(request -> request.send())
                .compose(response -> response.body())
                .map(Object::toString)));

        assertThat(body).isEqualTo("hello");
        assertThat(shaper.reserveSync("127.0.0.1").delayMicros()).isBetween(0L, 100_000L);
        assertThatThrownBy(() -> pacer.request(client, new RequestOptions())).hasMessageContaining("host");
    }
}
