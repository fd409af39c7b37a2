package io.throttlekit.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import reactor.blockhound.BlockingOperationError;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

class BlockHoundIsOnTest {

    @Test
    void reportsASleepOnAParallelThread() {
        Mono<Boolean> sleeper = Mono.fromCallable(() -> {
                    Thread.sleep(1);
                    return true;
                })
                .subscribeOn(Schedulers.parallel());

        StepVerifier.create(sleeper)
                .verifyErrorSatisfies(
                        error -> assertThat(Exceptions.unwrap(error)).isInstanceOf(BlockingOperationError.class));
    }
}
