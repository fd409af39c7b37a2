package io.throttlekit.limiter;

import io.throttlekit.Clock;
import io.throttlekit.Decision;
import io.throttlekit.Forecast;
import io.throttlekit.RateLimitExceededException;
import io.throttlekit.Store;
import io.throttlekit.Strategy;
import io.throttlekit.SyncStore;
import io.throttlekit.SynchronousAccessException;
import io.throttlekit.store.MemoryStore;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Decides requests, key by key: one strategy over one store.
 *
 * <pre>{@code
 * Limiter limiter = Limiter.of(Gcra.of(100, Duration.ofMinutes(1)));
 * limiter.check("user-42").filter(Decision::allowed).flatMap(ok -> call());
 * }</pre>
 *
 * <p>Every {@code Mono} is cold: assembling it charges nothing, each subscription charges once. Over a
 * {@link SyncStore} it answers on the subscriber's thread; over a remote store it signals on that store's
 * I/O thread. A denial is a value. Errors are those of {@link Store#apply}; a bad argument is an
 * {@link IllegalArgumentException} at the call, before anything is touched. The methods that end in
 * {@code Sync} are for stores in this process and throw {@link SynchronousAccessException} otherwise.
 *
 * <p>Limiters are immutable and safe for use from any thread.
 */
public sealed interface Limiter permits StoreLimiter, TierLimiter {
    /** The most keys that can be checked together. */
    int MAX_KEYS_TOGETHER = 1_000;

    /**
     * A limiter over a new {@link MemoryStore}.
     *
     * @param strategy what to decide
     * @return a new limiter
     */
    static Limiter of(Strategy<?> strategy) {
        return builder(strategy).build();
    }

    /**
     * The options of a limiter.
     *
     * @param strategy what to decide
     * @return a new builder
     */
    static Builder builder(Strategy<?> strategy) {
        return new Builder(strategy);
    }

    /**
     * What this limiter decides by.
     *
     * @return the strategy
     */
    Strategy<?> strategy();

    /**
     * Takes one unit.
     *
     * @param key whose limit it is
     * @return the decision
     */
    default Mono<Decision> check(String key) {
        return check(key, 1);
    }

    /**
     * Takes {@code cost} units, or none.
     *
     * @param key whose limit it is
     * @param cost 1 to 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @return the decision
     */
    default Mono<Decision> check(String key, long cost) {
        return checkUpTo(key, cost, cost);
    }

    /**
     * Takes one unit, now.
     *
     * @param key whose limit it is
     * @return the decision
     */
    default Decision checkSync(String key) {
        return checkSync(key, 1);
    }

    /**
     * Takes {@code cost} units or none, now.
     *
     * @param key whose limit it is
     * @param cost 1 to 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @return the decision
     */
    default Decision checkSync(String key, long cost) {
        return checkUpToSync(key, cost, cost);
    }

    /**
     * Takes as many units as there are, from {@code min} to {@code max}, or none; in one atomic step.
     *
     * @param key whose limit it is
     * @param min at least 1
     * @param max at least {@code min}, at most 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @return the decision, which says how many were granted
     */
    Mono<Decision> checkUpTo(String key, long min, long max);

    /**
     * {@link #checkUpTo}, now.
     *
     * @param key whose limit it is
     * @param min at least 1
     * @param max at least {@code min}, at most 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @return the decision, which says how many were granted
     */
    Decision checkUpToSync(String key, long min, long max);

    /**
     * Takes one unit of each of several keys, independently: one key's denial or error does not touch
     * another.
     *
     * <p>A synchronous store decides all of them at one time; other stores are asked concurrently.
     *
     * @param keys distinct keys, at most {@value #MAX_KEYS_TOGETHER}
     * @return what became of each, in the order of the keys
     */
    default Mono<List<Checked>> checkMany(Collection<String> keys) {
        return checkMany(keys, 1);
    }

    /**
     * Takes {@code cost} units of each of several keys, as {@link #checkMany(Collection)}.
     *
     * @param keys distinct keys, at most {@value #MAX_KEYS_TOGETHER}
     * @param cost 1 to 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @return what became of each, in the order of the keys
     */
    Mono<List<Checked>> checkMany(Collection<String> keys, long cost);

    /**
     * {@link #checkMany(Collection)}, now.
     *
     * @param keys distinct keys, at most {@value #MAX_KEYS_TOGETHER}
     * @return what became of each, in the order of the keys
     */
    default List<Checked> checkManySync(Collection<String> keys) {
        return checkManySync(keys, 1);
    }

    /**
     * {@link #checkMany(Collection, long)}, now.
     *
     * @param keys distinct keys, at most {@value #MAX_KEYS_TOGETHER}
     * @param cost 1 to 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @return what became of each, in the order of the keys
     */
    List<Checked> checkManySync(Collection<String> keys, long cost);

    /**
     * Looks without taking: the answer is that of a check of one unit.
     *
     * @param key whose limit it is
     * @return a decision that granted nothing
     */
    Mono<Decision> peek(String key);

    /**
     * {@link #peek}, now.
     *
     * @param key whose limit it is
     * @return a decision that granted nothing
     */
    Decision peekSync(String key);

    /**
     * Tells what can be spent, now and later.
     *
     * @param key whose limit it is
     * @return the forecast for requests of cost 1
     * @throws UnsupportedOperationException if the strategy cannot tell
     */
    default Mono<Forecast> forecast(String key) {
        return forecast(key, 1);
    }

    /**
     * Tells what can be spent, now and later.
     *
     * @param key whose limit it is
     * @param cost the cost of one request, 1 to 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @return the forecast
     * @throws UnsupportedOperationException if the strategy cannot tell
     */
    Mono<Forecast> forecast(String key, long cost);

    /**
     * {@link #forecast(String, long)}, now.
     *
     * @param key whose limit it is
     * @param cost the cost of one request, 1 to 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @return the forecast
     * @throws UnsupportedOperationException if the strategy cannot tell
     */
    Forecast forecastSync(String key, long cost);

    /**
     * Gives units back that were taken and not used.
     *
     * @param key whose limit it is
     * @param cost how many, 1 to 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @param charged the decision that took them, if at hand: a windowed strategy then gives nothing back
     *     once that window is over
     * @return whether anything was given back
     * @throws UnsupportedOperationException if the strategy cannot give back
     */
    Mono<Boolean> refund(String key, long cost, @Nullable Decision charged);

    /**
     * {@link #refund}, now.
     *
     * @param key whose limit it is
     * @param cost how many, 1 to 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @param charged the decision that took them, if at hand
     * @return whether anything was given back
     * @throws UnsupportedOperationException if the strategy cannot give back
     */
    boolean refundSync(String key, long cost, @Nullable Decision charged);

    /**
     * Makes a key as if never used.
     *
     * @param key whose limit it is
     * @return completes when it is done
     */
    Mono<Void> reset(String key);

    /**
     * {@link #reset}, now.
     *
     * @param key whose limit it is
     */
    void resetSync(String key);

    /**
     * Closes what the limiter made itself: the default store, never a store that was given to it.
     *
     * @return completes when it is done
     */
    Mono<Void> close();

    /**
     * An operator that subscribes to a {@code Mono} or {@code Flux} only if a check of one unit allows.
     *
     * <pre>{@code
     * mono.transform(limiter.guard("user-42"))
     * }</pre>
     *
     * @param key whose limit it is
     * @param <T> the elements
     * @return an operator that fails with {@link RateLimitExceededException} on a denial
     */
    default <T> UnaryOperator<Publisher<T>> guard(String key) {
        return guard(key, 1);
    }

    /**
     * An operator that subscribes to a {@code Mono} or {@code Flux} only if a check allows. Each subscription
     * is checked once.
     *
     * @param key whose limit it is
     * @param cost 1 to 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @param <T> the elements
     * @return an operator that fails with {@link RateLimitExceededException} on a denial
     */
    default <T> UnaryOperator<Publisher<T>> guard(String key, long cost) {
        Mono<Decision> check = check(key, cost);
        return source -> source instanceof Mono<T> mono
                ? check.flatMap(decision -> decision.allowed() ? mono : denied(decision))
                : check.flatMapMany(decision -> decision.allowed() ? source : denied(decision));
    }

    /**
     * An operator that checks each element and drops those that are denied. Order is kept.
     *
     * @param key the key of an element
     * @param cost the cost of an element, 1 to 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @param <T> the elements
     * @return the operator
     */
    default <T> UnaryOperator<Flux<T>> dropExcess(Function<? super T, String> key, ToLongFunction<? super T> cost) {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(cost, "cost");
        return flux -> flux.concatMap(
                element -> check(key.apply(element), cost.applyAsLong(element))
                        .filter(Decision::allowed)
                        .map(decision -> element),
                1);
    }

    /**
     * {@link #dropExcess(Function, ToLongFunction)} at one unit per element.
     *
     * @param key the key of an element
     * @param <T> the elements
     * @return the operator
     */
    default <T> UnaryOperator<Flux<T>> dropExcess(Function<? super T, String> key) {
        return dropExcess(key, element -> 1);
    }

    /**
     * An operator that checks each element and fails with {@link RateLimitExceededException} at the first
     * that is denied.
     *
     * @param key the key of an element
     * @param cost the cost of an element, 1 to 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @param <T> the elements
     * @return the operator
     */
    default <T> UnaryOperator<Flux<T>> failOnExcess(Function<? super T, String> key, ToLongFunction<? super T> cost) {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(cost, "cost");
        return flux -> flux.concatMap(
                element -> check(key.apply(element), cost.applyAsLong(element))
                        .flatMap(decision -> decision.allowed() ? Mono.just(element) : denied(decision)),
                1);
    }

    /**
     * {@link #failOnExcess(Function, ToLongFunction)} at one unit per element.
     *
     * @param key the key of an element
     * @param <T> the elements
     * @return the operator
     */
    default <T> UnaryOperator<Flux<T>> failOnExcess(Function<? super T, String> key) {
        return failOnExcess(key, element -> 1);
    }

    private static <T> Mono<T> denied(Decision decision) {
        return Mono.error(() -> new RateLimitExceededException(decision));
    }

    /** The options of a {@link Limiter}. */
    final class Builder {
        private final Strategy<?> strategy;
        private @Nullable Store store;
        private @Nullable Clock clock;
        private String prefix = "";

        private Builder(Strategy<?> strategy) {
            this.strategy = Objects.requireNonNull(strategy, "strategy");
        }

        /**
         * Where the state is kept; a new {@link MemoryStore} by default. The limiter does not close it.
         *
         * @param store the store
         * @return this
         */
        public Builder store(Store store) {
            this.store = Objects.requireNonNull(store, "store");
            return this;
        }

        /**
         * The clock of the default store. A store that is given has its own clock.
         *
         * @param clock the clock
         * @return this
         */
        public Builder clock(Clock clock) {
            this.clock = Objects.requireNonNull(clock, "clock");
            return this;
        }

        /**
         * Keeps this limiter's keys apart from those of other limiters over the same store, as
         * {@code prefix:key}. Without a prefix the store sees the bare key.
         *
         * @param prefix {@code [A-Za-z0-9_.-]+}
         * @return this
         * @throws IllegalArgumentException if it does not match
         */
        public Builder prefix(String prefix) {
            this.prefix = Keys.prefix(prefix);
            return this;
        }

        /**
         * The limiter.
         *
         * @return a new limiter
         * @throws IllegalStateException if both a store and a clock were given
         */
        public Limiter build() {
            if (store != null && clock != null) {
                throw new IllegalStateException("a store that is given has its own clock: give the clock to the store");
            }
            if (store != null) {
                return new StoreLimiter<>(strategy, store, prefix, false);
            }
            MemoryStore.Builder own = MemoryStore.builder();
            return new StoreLimiter<>(strategy, (clock == null ? own : own.clock(clock)).build(), prefix, true);
        }
    }
}
