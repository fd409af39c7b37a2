package io.throttlekit.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.shaping.LeakyBucket;
import io.throttlekit.shaping.Reservation;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FutureShaperTest {
    private final Vertx vertx = Vertx.vertx();
    private final FutureShaper shaper = FutureShaper.of(
            vertx, LeakyBucket.perSecond(20).maxQueue(Duration.ofSeconds(9)).build());

    @AfterEach
    void stop() throws Exception {
        await(shaper.close());
        await(vertx.close());
    }

    private static <T> T await(Future<T> future) throws Exception {
        return future.toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    @Test
    void reservesAndGivesBackAtOnceOverAStoreInThisProcess() throws Exception {
        Future<Reservation> first = shaper.reserve("a");
        Future<Reservation> second = shaper.reserve("a", 2);

        assertThat(first.result().delayMicros()).isZero();
        assertThat(second.result().delayMicros()).isPositive();
        assertThat(await(shaper.cancel(second.result()))).isTrue();
        assertThat(await(shaper.cancel(second.result()))).isFalse();
    }

    @Test
    void keepsTurnsAndCompletesOnTheContextOfTheCaller() throws Exception {
        Context caller = vertx.getOrCreateContext();
        CompletableFuture<Context> seen = new CompletableFuture<>();
        await(shaper.schedule("a"));

        caller.runOnContext(ignored -> shaper.schedule("a").onSuccess(turn -> seen.complete(Vertx.currentContext())));

        assertThat(seen.get(10, TimeUnit.SECONDS)).isSameAs(caller);
    }

    @Test
    void startsALineAnew() throws Exception {
        await(shaper.reserve("a", 5));

        await(shaper.reset("a"));

        assertThat(shaper.reserve("a").result().delayMicros()).isZero();
    }
}
