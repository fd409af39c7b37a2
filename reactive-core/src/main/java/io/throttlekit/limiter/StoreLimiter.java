package io.throttlekit.limiter;

import io.throttlekit.Decision;
import io.throttlekit.Forecast;
import io.throttlekit.Store;
import io.throttlekit.Strategy;
import io.throttlekit.SyncStore;
import io.throttlekit.SynchronousAccessException;
import io.throttlekit.Transform;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** One strategy over one store: checks the arguments, joins the key, and hands the transform on. */
final class StoreLimiter<S> implements Limiter {
    private final Strategy<S> strategy;
    private final Store store;
    private final @Nullable SyncStore sync;
    private final String prefix;
    private final boolean ownsStore;
    private final Transform<S, Decision> one;

    /**
     * A limiter.
     *
     * @param prefix empty, or a prefix with its colon
     */
    StoreLimiter(Strategy<S> strategy, Store store, String prefix, boolean ownsStore) {
        this.strategy = strategy;
        this.store = store;
        this.sync = store instanceof SyncStore s ? s : null;
        this.prefix = prefix;
        this.ownsStore = ownsStore;
        this.one = strategy.check(1, 1);
    }

    private String join(String key) {
        return prefix.isEmpty() ? key : prefix.concat(key);
    }

    private SyncStore sync(String call) {
        if (sync == null) {
            throw new SynchronousAccessException(call + " needs a store in this process, and "
                    + store.getClass().getSimpleName() + " is none: use the Mono");
        }
        return sync;
    }

    private <R> R applySync(String call, String key, Transform<S, R> transform) {
        return sync(call).applySync(join(key), transform);
    }

    private Transform<S, Decision> checking(long min, long max) {
        return min == 1 && max == 1 ? one : strategy.check(min, max);
    }

    @Override
    public Strategy<S> strategy() {
        return strategy;
    }

    @Override
    public Decision checkSync(String key) {
        return applySync("checkSync", key, one);
    }

    @Override
    public Mono<Decision> check(String key) {
        return store.apply(join(key), one);
    }

    @Override
    public Mono<Decision> checkUpTo(String key, long min, long max) {
        return store.apply(join(key), checking(min, max));
    }

    @Override
    public Decision checkUpToSync(String key, long min, long max) {
        return applySync("checkUpToSync", key, checking(min, max));
    }

    @Override
    public Mono<List<Checked>> checkMany(Collection<String> keys, long cost) {
        List<String> distinct = Keys.distinct(keys);
        Transform<S, Decision> transform = checking(cost, cost);
        if (sync != null) {
            SyncStore target = sync;
            return Mono.fromCallable(() -> checkMany(target, distinct, transform));
        }
        return Keys.checkEach(distinct, key -> store.apply(join(key), transform));
    }

    @Override
    public List<Checked> checkManySync(Collection<String> keys, long cost) {
        return checkMany(sync("checkManySync"), Keys.distinct(keys), checking(cost, cost));
    }

    private List<Checked> checkMany(SyncStore target, List<String> keys, Transform<S, Decision> transform) {
        long now = target.nowMicros();
        List<Checked> results = new ArrayList<>(keys.size());
        for (String key : keys) {
            Checked result;
            try {
                result = new Checked(key, target.applySync(join(key), transform, now), null);
            } catch (RuntimeException e) {
                result = new Checked(key, null, e);
            }
            results.add(result);
        }
        return results;
    }

    @Override
    public Mono<Decision> peek(String key) {
        return store.apply(join(key), strategy.peek());
    }

    @Override
    public Decision peekSync(String key) {
        return applySync("peekSync", key, strategy.peek());
    }

    @Override
    public Mono<Forecast> forecast(String key, long cost) {
        return store.apply(join(key), strategy.forecast(cost));
    }

    @Override
    public Forecast forecastSync(String key, long cost) {
        return applySync("forecastSync", key, strategy.forecast(cost));
    }

    @Override
    public Mono<Boolean> refund(String key, long cost, @Nullable Decision charged) {
        return store.apply(join(key), strategy.refund(cost, charged));
    }

    @Override
    public boolean refundSync(String key, long cost, @Nullable Decision charged) {
        return applySync("refundSync", key, strategy.refund(cost, charged));
    }

    @Override
    public Mono<Void> reset(String key) {
        return store.reset(join(key));
    }

    @Override
    public void resetSync(String key) {
        sync("resetSync").resetSync(join(key));
    }

    @Override
    public Mono<Void> close() {
        return ownsStore ? store.close() : Mono.empty();
    }
}
