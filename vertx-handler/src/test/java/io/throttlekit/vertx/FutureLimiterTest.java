package io.throttlekit.vertx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.throttlekit.Decision;
import io.throttlekit.Store;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.conformance.GatedStore;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.FixedWindow;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

class FutureLimiterTest {
    private final Vertx vertx = Vertx.vertx();
    private final MemoryStore memory = MemoryStore.create();
    private final Scheduler storeThread = Schedulers.newSingle("store");

    @AfterEach
    void stop() throws Exception {
        await(vertx.close());
        storeThread.dispose();
        memory.close().block();
    }

    private FutureLimiter over(Store store) {
        return FutureLimiter.of(
                vertx,
                Limiter.builder(FixedWindow.of(5, Duration.ofHours(1)))
                        .store(store)
                        .build());
    }

    private static <T> T await(Future<T> future) throws Exception {
        return future.toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    @Test
    void answersAtOnceOverAStoreInThisProcess() {
        FutureLimiter limiter = over(memory);

        Future<Decision> first = limiter.check("a");
        Future<Decision> second = limiter.check("a", 3);
        Future<Decision> third = limiter.checkUpTo("a", 1, 9);

        assertThat(List.of(first, second, third)).allMatch(Future::isComplete);
        assertThat(third.result().granted()).isEqualTo(1);
        assertThat(limiter.peek("a").result().remaining()).isZero();
        assertThat(limiter.forecast("a").result().spendableNow()).isZero();
        assertThat(limiter.refund("a", 2, third.result()).result()).isTrue();
        assertThat(limiter.checkMany(List.of("a", "b")).result()).hasSize(2);
        assertThat(limiter.checkMany(List.of("a", "b"), 1).result()).hasSize(2);
        assertThat(limiter.reset("a").isComplete()).isTrue();
        assertThat(limiter.peek("a").result().remaining()).isEqualTo(5);
    }

    @Test
    void completesOnTheContextOfTheCaller() throws Exception {
        FutureLimiter limiter = over(new GatedStore(
                memory, Mono.delay(Duration.ofMillis(20), storeThread).then()));
        Context caller = vertx.getOrCreateContext();
        CompletableFuture<Context> seen = new CompletableFuture<>();

        caller.runOnContext(ignored -> limiter.check("a").onSuccess(decision -> seen.complete(Vertx.currentContext())));

        assertThat(seen.get(10, TimeUnit.SECONDS)).isSameAs(caller);
    }

    @Test
    void chargesOncePerCallWhoeverListens() throws Exception {
        FutureLimiter limiter = over(memory);

        Future<Decision> check = limiter.check("a");
        await(check);
        await(check);

        assertThat(limiter.peek("a").result().remaining()).isEqualTo(4);
    }

    @Test
    void failsTheFutureForAnOutageAndThrowsForABadArgument() {
        StoreUnavailableException outage =
                new StoreUnavailableException(Reason.DISCONNECTED, false, "no connection", null);

        Future<Decision> down = over(new GatedStore(memory, Mono.error(outage))).check("a");

        assertThat(down.cause()).isSameAs(outage);
        assertThatIllegalArgumentException().isThrownBy(() -> over(memory).check("a", 0));
    }
}
