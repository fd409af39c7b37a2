package io.throttlekit.examples.soak;

import io.throttlekit.Decision;
import io.throttlekit.Store;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.strategy.FixedWindow;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** Takes and gives back on one key all the time, and compares its own account with the store's in the end. */
final class Refunds {
    private static final String KEY = "account";
    private static final int KEYS = 64;
    private static final long LIMIT = 1_000_000_000;

    private final String store;
    private final Limiter limiter;
    private final Consumer<String> violations;
    private final LongAdder charges = new LongAdder();
    private final LongAdder refunds = new LongAdder();
    private final LongAdder maybeCharges = new LongAdder();
    private final LongAdder maybeRefunds = new LongAdder();

    Refunds(String name, Store store, Consumer<String> violations) {
        this.store = name;
        this.limiter = Limiter.builder(FixedWindow.of(LIMIT, Duration.ofDays(3650)))
                .store(store)
                .prefix("refunds")
                .build();
        this.violations = violations;
    }

    /** Waits until the store decides. */
    void awaitStore() {
        limiter.peek(KEY)
                .retryWhen(Retry.fixedDelay(300, Duration.ofMillis(100)))
                .block();
    }

    /** Asks for many keys, so that every connection there may be is there. */
    void spread() {
        Flux.range(0, KEYS)
                .flatMap(i -> limiter.peek("key" + i).onErrorComplete())
                .blockLast(Duration.ofSeconds(10));
    }

    /** Takes one and gives it back. */
    Mono<Void> once() {
        return limiter.check(KEY)
                .doOnNext(decision -> charges.increment())
                .doOnError(error -> unknown(error, maybeCharges))
                .flatMap(this::giveBack)
                .onErrorResume(StoreUnavailableException.class, error -> Mono.empty());
    }

    private Mono<Void> giveBack(Decision decision) {
        return limiter.refund(KEY, 1, decision)
                .doOnNext(changed -> {
                    refunds.increment();
                    if (!changed) {
                        violations.accept(store + ": a refund was turned down of " + decision);
                    }
                })
                .doOnError(error -> unknown(error, maybeRefunds))
                .then();
    }

    private static void unknown(Throwable error, LongAdder counter) {
        if (error instanceof StoreUnavailableException unavailable && unavailable.mayHaveCharged()) {
            counter.increment();
        }
    }

    /** Compares the accounts; what was of unknown fate may have happened or not. */
    void verify() {
        Decision now = limiter.peek(KEY).block(Duration.ofSeconds(10));
        long used = now == null ? -1 : LIMIT - now.remaining();
        long certain = charges.sum() - refunds.sum();
        if (used < certain - maybeRefunds.sum() || used > certain + maybeCharges.sum()) {
            violations.accept(store + ": " + used + " are taken, though " + this);
        }
    }

    long count() {
        return refunds.sum();
    }

    /** Forgets the key. */
    void end() {
        limiter.reset(KEY).block(Duration.ofSeconds(10));
    }

    @Override
    public String toString() {
        return charges + " charges and " + refunds + " refunds are certain, " + maybeCharges + " and " + maybeRefunds
                + " of unknown fate";
    }
}
