package io.throttlekit.redis;

import io.throttlekit.StoreUnavailableException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** Waits for things, up to 20 seconds. */
final class Await {
    static final Duration PATIENCE = Duration.ofSeconds(20);

    private Await() {}

    static <T> T value(Mono<T> mono) {
        AtomicReference<@Nullable T> value = new AtomicReference<>();
        StepVerifier.create(mono).consumeNextWith(value::set).expectComplete().verify(PATIENCE);
        return Objects.requireNonNull(value.get());
    }

    static void done(Mono<Void> mono) {
        StepVerifier.create(mono).expectComplete().verify(PATIENCE);
    }

    static Throwable error(Mono<?> mono) {
        AtomicReference<@Nullable Throwable> error = new AtomicReference<>();
        StepVerifier.create(mono).expectErrorSatisfies(error::set).verify(PATIENCE);
        return Objects.requireNonNull(error.get());
    }

    static StoreUnavailableException outage(Mono<?> mono) {
        Throwable error = error(mono);
        if (error instanceof StoreUnavailableException outage) {
            return outage;
        }
        throw new AssertionError("expected an outage", error);
    }

    /** Asks again and again. */
    static void until(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("waited in vain until " + what);
            }
            LockSupport.parkNanos(2_000_000);
        }
    }
}
