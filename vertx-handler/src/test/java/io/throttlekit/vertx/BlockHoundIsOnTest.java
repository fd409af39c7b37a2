package io.throttlekit.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.blockhound.BlockingOperationError;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

class BlockHoundIsOnTest {

    @Test
    void reportsASleepOnAParallelThread() {
        Mono<Boolean> sleeper = Mono.fromCallable(BlockHoundIsOnTest::sleep).subscribeOn(Schedulers.parallel());

        StepVerifier.create(sleeper).verifyErrorSatisfies(BlockHoundIsOnTest::isReport);
    }

    @Test
    void reportsASleepOnAnEventLoop() {
        Vertx vertx = Vertx.vertx();
        Mono<Boolean> sleeper = Mono.create(sink -> vertx.runOnContext(ignored -> {
            try {
                sink.success(sleep());
            } catch (Throwable error) {
                sink.error(error);
            }
        }));

        StepVerifier.create(sleeper.timeout(Duration.ofSeconds(10))).verifyErrorSatisfies(BlockHoundIsOnTest::isReport);

        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    private static boolean sleep() throws InterruptedException {
        Thread.sleep(1);
        return true;
    }

    private static void isReport(Throwable error) {
        assertThat(Exceptions.unwrap(error)).isInstanceOf(BlockingOperationError.class);
    }
}
