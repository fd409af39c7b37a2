package io.throttlekit.limiter;

import io.throttlekit.Decision;
import io.throttlekit.Forecast;
import io.throttlekit.Strategy;
import io.throttlekit.SynchronousAccessException;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A limiter of two tiers: the first in this process, the second a store. */
final class TierLimiter<S> implements Limiter {
    private final Origin<S> origin;
    private final Tier tier;

    TierLimiter(Origin<S> origin, Tier tier) {
        this.origin = origin;
        this.tier = tier;
    }

    @Override
    public Strategy<?> strategy() {
        return origin.strategy();
    }

    @Override
    public Mono<Decision> checkUpTo(String key, long min, long max) {
        Objects.requireNonNull(key, "key");
        if (min != 1 || max != 1) {
            origin.requireRange(min, max);
        }
        return tier.check(key, min, max);
    }

    @Override
    public Mono<List<Checked>> checkMany(Collection<String> keys, long cost) {
        origin.requireRange(cost, cost);
        return Keys.checkEach(Keys.distinct(keys), key -> tier.check(key, cost, cost));
    }

    @Override
    public Mono<Decision> peek(String key) {
        return tier.peek(Objects.requireNonNull(key, "key"));
    }

    @Override
    public Mono<Forecast> forecast(String key, long cost) {
        return origin.forecast(key, cost);
    }

    @Override
    public Mono<Boolean> refund(String key, long cost, @Nullable Decision charged) {
        return origin.refund(key, cost, charged).doOnNext(given -> tier.refunded(key));
    }

    @Override
    public Mono<Void> reset(String key) {
        // What was leased before, and what was leased while the reset was on its way, is of the old key.
        Mono<Void> forget = Mono.fromRunnable(() -> tier.forget(key));
        return forget.then(origin.reset(key)).then(forget);
    }

    @Override
    public Mono<Void> close() {
        return tier.close();
    }

    private static SynchronousAccessException notNow(String call) {
        return new SynchronousAccessException(call + " cannot wait for a second tier: use the Mono");
    }

    @Override
    public Decision checkUpToSync(String key, long min, long max) {
        throw notNow("checkSync");
    }

    @Override
    public List<Checked> checkManySync(Collection<String> keys, long cost) {
        throw notNow("checkManySync");
    }

    @Override
    public Decision peekSync(String key) {
        throw notNow("peekSync");
    }

    @Override
    public Forecast forecastSync(String key, long cost) {
        throw notNow("forecastSync");
    }

    @Override
    public boolean refundSync(String key, long cost, @Nullable Decision charged) {
        throw notNow("refundSync");
    }

    @Override
    public void resetSync(String key) {
        throw notNow("resetSync");
    }
}
