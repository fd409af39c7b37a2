package io.throttlekit.vertx;

import io.throttlekit.shaping.Reservation;
import io.throttlekit.shaping.Shaper;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.Objects;

/**
 * A {@link Shaper} whose answers are Vert.x futures.
 *
 * <pre>{@code
 * FutureShaper shaper = FutureShaper.of(vertx, LeakyBucket.perSecond(10).maxQueue(Duration.ofSeconds(5)).build());
 * shaper.schedule("upstream").compose(turn -> call());
 * }</pre>
 *
 * <p>A future is not cold: the call itself takes a place in the line, whoever listens, and nothing but
 * {@link #cancel} gives it back. What is known when the call returns is complete then; otherwise the future
 * completes on the caller's context, never on a thread of the store or the shaper. The errors are those of
 * {@link Shaper}.
 */
public final class FutureShaper {
    private final Vertx vertx;
    private final Shaper shaper;

    private FutureShaper(Vertx vertx, Shaper shaper) {
        this.vertx = Objects.requireNonNull(vertx, "vertx");
        this.shaper = Objects.requireNonNull(shaper, "shaper");
    }

    /**
     * A view of a shaper.
     *
     * @param vertx whose contexts the callers are on
     * @param shaper what keeps the lines
     * @return a new view
     */
    public static FutureShaper of(Vertx vertx, Shaper shaper) {
        return new FutureShaper(vertx, shaper);
    }

    /**
     * The shaper behind.
     *
     * @return as it was given
     */
    public Shaper shaper() {
        return shaper;
    }

    /**
     * Takes the next place in a line, without waiting for it.
     *
     * @param key whose line it is
     * @return the reservation, which says how long to wait
     */
    public Future<Reservation> reserve(String key) {
        return Answer.to(vertx, shaper.reserve(key));
    }

    /**
     * Takes the next place in a line for several units that depart together, without waiting for it.
     *
     * @param key whose line it is
     * @param cost how many units, as for {@link Shaper#reserve(String, long)}
     * @return the reservation, which says how long to wait
     */
    public Future<Reservation> reserve(String key, long cost) {
        return Answer.to(vertx, shaper.reserve(key, cost));
    }

    /**
     * Gives a reservation back, before its departure and if it is the last of its line.
     *
     * @param reservation what {@link #reserve(String)} gave
     * @return whether its place was given back
     */
    public Future<Boolean> cancel(Reservation reservation) {
        return Answer.to(vertx, shaper.cancel(reservation));
    }

    /**
     * Waits for a turn.
     *
     * @param key whose line it is
     * @return completes at the departure
     */
    public Future<Void> schedule(String key) {
        return Answer.to(vertx, shaper.schedule(key));
    }

    /**
     * Waits for a turn of several units that depart together.
     *
     * @param key whose line it is
     * @param cost how many units, as for {@link Shaper#schedule(String, long)}
     * @return completes at the departure
     */
    public Future<Void> schedule(String key, long cost) {
        return Answer.to(vertx, shaper.schedule(key, cost));
    }

    /**
     * Makes a line as if never used.
     *
     * @param key whose line it is
     * @return completes when it is done
     */
    public Future<Void> reset(String key) {
        return Answer.to(vertx, shaper.reset(key));
    }

    /**
     * Closes what the shaper made itself.
     *
     * @return completes when it is done
     */
    public Future<Void> close() {
        return Answer.to(vertx, shaper.close());
    }
}
