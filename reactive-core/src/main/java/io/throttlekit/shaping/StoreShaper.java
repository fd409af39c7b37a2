package io.throttlekit.shaping;

import io.throttlekit.ExactMicros;
import io.throttlekit.Store;
import io.throttlekit.SyncStore;
import io.throttlekit.SynchronousAccessException;
import io.throttlekit.Transform;
import io.throttlekit.strategy.Departure;
import io.throttlekit.strategy.DepartureLine;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.util.context.Context;

/** Lines of one rate over one store. */
final class StoreShaper implements Shaper {
    private final DepartureLine line;
    private final Store store;
    private final @Nullable SyncStore sync;
    private final String prefix;
    private final Supplier<Scheduler> timers;
    private final boolean ownsStore;

    /**
     * A shaper.
     *
     * @param prefix empty, or a prefix with its colon
     * @param timers gives the scheduler of a subscription
     */
    StoreShaper(DepartureLine line, Store store, String prefix, Supplier<Scheduler> timers, boolean ownsStore) {
        this.line = line;
        this.store = store;
        this.sync = store instanceof SyncStore s ? s : null;
        this.prefix = prefix;
        this.timers = timers;
        this.ownsStore = ownsStore;
    }

    Scheduler timer() {
        return timers.get();
    }

    /** The store, if it answers within the call. */
    @Nullable
    SyncStore sync() {
        return sync;
    }

    Store store() {
        return store;
    }

    Transform<ExactMicros, Departure> reserving(long cost) {
        return line.reserve(cost);
    }

    /** The key as the store knows it. */
    String join(String key) {
        Objects.requireNonNull(key, "key");
        return prefix.isEmpty() ? key : prefix.concat(key);
    }

    private SyncStore synchronous(String call) {
        if (sync == null) {
            throw new SynchronousAccessException(call + " needs a store in this process, and "
                    + store.getClass().getSimpleName() + " is none: use the Mono");
        }
        return sync;
    }

    @Override
    public Mono<Reservation> reserve(String key, long cost) {
        return store.apply(join(key), reserving(cost)).map(place -> new Reservation(key, place));
    }

    @Override
    public Reservation reserveSync(String key, long cost) {
        SyncStore target = synchronous("reserveSync");
        return new Reservation(key, target.applySync(join(key), reserving(cost), target.nowMicros()));
    }

    @Override
    public Mono<Boolean> cancel(Reservation reservation) {
        Objects.requireNonNull(reservation, "reservation");
        return Mono.defer(() -> reservation.accepted() && reservation.spend()
                ? store.apply(join(reservation.key()), line.cancel(reservation.place()))
                : Mono.just(false));
    }

    /**
     * Gives places of one line back until one of them is not the last in line any more. Whoever held them has
     * been cancelled, so there is nobody to tell: the subscription is our own. It ends with the store's deadline.
     *
     * @param storeKey the key as the store knows it
     * @param newestFirst what was accepted
     */
    void giveBack(String storeKey, List<Departure> newestFirst, Context context) {
        if (sync == null) {
            Flux.fromIterable(newestFirst)
                    .concatMap(place -> store.apply(storeKey, line.cancel(place)))
                    .takeWhile(given -> given)
                    .subscribe(given -> {}, error -> Operators.onErrorDropped(error, context));
            return;
        }
        try {
            for (Departure place : newestFirst) {
                if (!sync.applySync(storeKey, line.cancel(place), sync.nowMicros())) {
                    return;
                }
            }
        } catch (RuntimeException e) {
            Operators.onErrorDropped(e, context);
        }
    }

    @Override
    public Mono<Void> schedule(String key, long cost) {
        return TurnMono.of(this, join(key), reserving(cost));
    }

    @Override
    public Mono<Void> reset(String key) {
        return store.reset(join(key));
    }

    @Override
    public Mono<Void> close() {
        return ownsStore ? store.close() : Mono.empty();
    }

    @Override
    public <T> UnaryOperator<Publisher<T>> pace(String key, Pacing<? super T> pacing) {
        String joined = join(key);
        Transform<ExactMicros, Departure> one = reserving(1);
        return operator(element -> joined, element -> one, pacing);
    }

    @Override
    public <T> UnaryOperator<Publisher<T>> paceBy(
            Function<? super T, String> key, ToLongFunction<? super T> cost, Pacing<? super T> pacing) {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(cost, "cost");
        return operator(element -> join(key.apply(element)), element -> reserving(cost.applyAsLong(element)), pacing);
    }

    private <T> UnaryOperator<Publisher<T>> operator(
            Function<? super T, String> storeKey,
            Function<? super T, Transform<ExactMicros, Departure>> reserving,
            Pacing<? super T> pacing) {
        Objects.requireNonNull(pacing, "pacing");
        return source -> source instanceof Mono<T> mono
                ? Mono.fromDirect(PaceFlux.of(mono.flux(), this, storeKey, reserving, pacing.ahead(1)))
                : PaceFlux.of(Flux.from(source), this, storeKey, reserving, pacing);
    }
}
