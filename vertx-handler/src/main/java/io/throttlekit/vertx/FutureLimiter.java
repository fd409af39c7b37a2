package io.throttlekit.vertx;

import io.throttlekit.Decision;
import io.throttlekit.Forecast;
import io.throttlekit.limiter.Checked;
import io.throttlekit.limiter.Limiter;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A {@link Limiter} whose answers are Vert.x futures.
 *
 * <pre>{@code
 * FutureLimiter limiter = FutureLimiter.of(vertx, Limiter.of(Gcra.of(100, Duration.ofMinutes(1))));
 * limiter.check("user-42").onSuccess(decision -> …);
 * }</pre>
 *
 * <p>A future is not cold: the call itself asks the store, and charges once whoever listens. Over a store in
 * this process the future is complete when the call returns; otherwise it completes on the caller's context,
 * never on a thread of the store. The errors are those of {@link Limiter}: the store's fail the future, and a
 * bad argument is thrown at the call.
 */
public final class FutureLimiter {
    private final Vertx vertx;
    private final Limiter limiter;

    private FutureLimiter(Vertx vertx, Limiter limiter) {
        this.vertx = Objects.requireNonNull(vertx, "vertx");
        this.limiter = Objects.requireNonNull(limiter, "limiter");
    }

    /**
     * A view of a limiter.
     *
     * @param vertx whose contexts the callers are on
     * @param limiter what decides
     * @return a new view
     */
    public static FutureLimiter of(Vertx vertx, Limiter limiter) {
        return new FutureLimiter(vertx, limiter);
    }

    /**
     * The limiter behind.
     *
     * @return as it was given
     */
    public Limiter limiter() {
        return limiter;
    }

    /**
     * Takes one unit.
     *
     * @param key whose limit it is
     * @return the decision
     */
    public Future<Decision> check(String key) {
        return ask(limiter.check(key));
    }

    /**
     * Takes {@code cost} units, or none.
     *
     * @param key whose limit it is
     * @param cost 1 to 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @return the decision
     */
    public Future<Decision> check(String key, long cost) {
        return ask(limiter.check(key, cost));
    }

    /**
     * Takes as many units as there are, from {@code min} to {@code max}, or none.
     *
     * @param key whose limit it is
     * @param min at least 1
     * @param max at least {@code min}, at most 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @return the decision, which says how many were granted
     */
    public Future<Decision> checkUpTo(String key, long min, long max) {
        return ask(limiter.checkUpTo(key, min, max));
    }

    /**
     * Takes one unit of each of several keys, independently.
     *
     * @param keys distinct keys, at most {@link Limiter#MAX_KEYS_TOGETHER}
     * @return what became of each, in the order of the keys
     */
    public Future<List<Checked>> checkMany(Collection<String> keys) {
        return ask(limiter.checkMany(keys));
    }

    /**
     * Takes {@code cost} units of each of several keys, independently.
     *
     * @param keys distinct keys, at most {@link Limiter#MAX_KEYS_TOGETHER}
     * @param cost 1 to 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @return what became of each, in the order of the keys
     */
    public Future<List<Checked>> checkMany(Collection<String> keys, long cost) {
        return ask(limiter.checkMany(keys, cost));
    }

    /**
     * Looks without taking.
     *
     * @param key whose limit it is
     * @return a decision that granted nothing
     */
    public Future<Decision> peek(String key) {
        return ask(limiter.peek(key));
    }

    /**
     * Tells what can be spent, now and later.
     *
     * @param key whose limit it is
     * @return the forecast for requests of cost 1
     */
    public Future<Forecast> forecast(String key) {
        return ask(limiter.forecast(key));
    }

    /**
     * Tells what can be spent, now and later.
     *
     * @param key whose limit it is
     * @param cost the cost of one request, 1 to 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @return the forecast
     */
    public Future<Forecast> forecast(String key, long cost) {
        return ask(limiter.forecast(key, cost));
    }

    /**
     * Gives units back that were taken and not used.
     *
     * @param key whose limit it is
     * @param cost how many, 1 to 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @param charged the decision that took them, if at hand
     * @return whether anything was given back
     */
    public Future<Boolean> refund(String key, long cost, @Nullable Decision charged) {
        return ask(limiter.refund(key, cost, charged));
    }

    /**
     * Makes a key as if never used.
     *
     * @param key whose limit it is
     * @return completes when it is done
     */
    public Future<Void> reset(String key) {
        return ask(limiter.reset(key));
    }

    /**
     * Closes what the limiter made itself.
     *
     * @return completes when it is done
     */
    public Future<Void> close() {
        return ask(limiter.close());
    }

    private <T> Future<T> ask(Mono<T> question) {
        return Answer.to(vertx, question);
    }
}
