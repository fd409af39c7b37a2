package io.throttlekit.limiter;

import io.throttlekit.Decision;
import io.throttlekit.Forecast;
import io.throttlekit.Store;
import io.throttlekit.Strategy;
import io.throttlekit.Transform;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The second tier: one strategy over one store, under a prefix. */
final class Origin<S> {
    private final Strategy<S> strategy;
    private final Store store;
    private final String prefix;
    private final Transform<S, Decision> one;

    Origin(Strategy<S> strategy, Store store, String prefix) {
        this.strategy = strategy;
        this.store = store;
        this.prefix = prefix;
        this.one = strategy.check(1, 1);
    }

    Strategy<S> strategy() {
        return strategy;
    }

    private <R> Mono<R> apply(String key, Transform<S, R> transform) {
        return store.apply(prefix.isEmpty() ? key : prefix.concat(key), transform);
    }

    private Transform<S, Decision> checking(long min, long max) {
        return min == 1 && max == 1 ? one : strategy.check(min, max);
    }

    /** Fails if the arguments are no range; touches nothing. */
    void requireRange(long min, long max) {
        checking(min, max);
    }

    Mono<Decision> check(String key, long min, long max) {
        return apply(key, checking(min, max));
    }

    Mono<Decision> peek(String key) {
        return apply(key, strategy.peek());
    }

    Mono<Forecast> forecast(String key, long cost) {
        return apply(key, strategy.forecast(cost));
    }

    Mono<Boolean> refund(String key, long cost, @Nullable Decision charged) {
        return apply(key, strategy.refund(cost, charged));
    }

    Mono<Void> reset(String key) {
        return store.reset(prefix.isEmpty() ? key : prefix.concat(key));
    }

    /** Whether the strategy can take units back. */
    boolean refunds() {
        try {
            strategy.refund(1, null);
            return true;
        } catch (UnsupportedOperationException e) {
            return false;
        }
    }
}
