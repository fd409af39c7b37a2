package io.throttlekit.shaping;

import io.throttlekit.QueueFullException;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.SynchronousAccessException;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * Evens out traffic: one line of departures per key, at a constant rate, with a longest wait.
 *
 * <pre>{@code
 * Shaper shaper = LeakyBucket.of(5, Duration.ofSeconds(1)).maxQueue(Duration.ofSeconds(2)).build();
 *
 * shaper.schedule("upstream").then(call);                 // waits its turn, then calls
 * requests.transform(shaper.pace("upstream"));            // lets elements through one by one
 * }</pre>
 *
 * <p>Nothing is saved up while a line is idle. Everything is cold: assembling reserves nothing, each
 * subscription reserves once. Waiting is delayed emission on the shaper's scheduler,
 * {@code Schedulers.parallel()} by default; nothing blocks. Where nothing is to be waited for and the store is in
 * this process, signals come on the subscriber's thread. A store's failure comes as a
 * {@link StoreUnavailableException}; a cost or key out of range as an {@link IllegalArgumentException}, when it
 * is assembled or, in an operator, as an error.
 *
 * <p><b>Cancelling.</b> A wait that is cancelled gives its place back when it is the last of its line and has not
 * departed. In the middle of the line it leaves a gap: nobody's departure is moved, and order is never changed.
 */
public interface Shaper {
    /**
     * Takes the next place in a line. It never waits: the delay is for the caller to keep.
     *
     * @param key whose line
     * @return the reservation, accepted or not; on the thread of the store
     */
    default Mono<Reservation> reserve(String key) {
        return reserve(key, 1);
    }

    /**
     * Takes the next place in a line for several units that depart together.
     *
     * @param key whose line
     * @param cost 1 to 2<sup>53</sup>&nbsp;&minus;&nbsp;1; it holds up who comes next for so many intervals
     * @return the reservation, accepted or not; on the thread of the store
     * @throws IllegalArgumentException if the cost is out of range, or would hold up the line for more than 142
     *     years
     */
    Mono<Reservation> reserve(String key, long cost);

    /**
     * {@link #reserve(String)}, now.
     *
     * @param key whose line
     * @return the reservation, accepted or not
     * @throws SynchronousAccessException if the store is not in this process
     */
    default Reservation reserveSync(String key) {
        return reserveSync(key, 1);
    }

    /**
     * {@link #reserve(String, long)}, now.
     *
     * @param key whose line
     * @param cost 1 to 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @return the reservation, accepted or not
     * @throws SynchronousAccessException if the store is not in this process
     * @throws IllegalArgumentException as {@link #reserve(String, long)} does
     */
    Reservation reserveSync(String key, long cost);

    /**
     * Gives a reservation back, before its departure and if it is the last of its line. Only the first
     * subscription for a reservation does anything, whatever came of it.
     *
     * @param reservation a reservation of this shaper's
     * @return whether it was given back
     */
    Mono<Boolean> cancel(Reservation reservation);

    /**
     * Waits for a turn.
     *
     * @param key whose line
     * @return completes at the departure, or fails with {@link QueueFullException} at once; cancelling gives the
     *     place back where it is the last of the line
     */
    default Mono<Void> schedule(String key) {
        return schedule(key, 1);
    }

    /**
     * Waits for a turn of several units that depart together.
     *
     * <p>Reserves when it is subscribed to. It completes on the scheduler, or on the subscriber's thread when the
     * answer is known at once and there is nothing to wait for.
     *
     * @param key whose line
     * @param cost 1 to 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @return completes at the departure, or fails with {@link QueueFullException} at once; cancelling gives the
     *     place back where it is the last of the line
     * @throws IllegalArgumentException as {@link #reserve(String, long)} does
     */
    Mono<Void> schedule(String key, long cost);

    /**
     * Makes a line as if never used. Who waits already still departs when it was told.
     *
     * @param key whose line
     * @return completes when it is done
     */
    Mono<Void> reset(String key);

    /**
     * Closes what the shaper made itself: the default store, never a store or scheduler that was given to it.
     *
     * @return completes when it is done
     */
    Mono<Void> close();

    /**
     * An operator that lets the elements of a {@code Flux} or {@code Mono} through one by one, all in one line.
     * The first that meets a full queue ends it with {@link QueueFullException}.
     *
     * <pre>{@code
     * flux.transform(shaper.pace("upstream"))
     * }</pre>
     *
     * @param key whose line
     * @param <T> the elements
     * @return the operator, as {@link #paceBy(Function, ToLongFunction, Pacing)} describes it
     */
    default <T> UnaryOperator<Publisher<T>> pace(String key) {
        return pace(key, Pacing.failWhenFull());
    }

    /**
     * {@link #pace(String)} with options.
     *
     * @param key whose line
     * @param pacing what to do when the queue is full, and how far to reserve ahead
     * @param <T> the elements
     * @return the operator, as {@link #paceBy(Function, ToLongFunction, Pacing)} describes it
     */
    <T> UnaryOperator<Publisher<T>> pace(String key, Pacing<? super T> pacing);

    /**
     * {@link #paceBy(Function, ToLongFunction)} at one unit per element.
     *
     * @param key the key of an element
     * @param <T> the elements
     * @return the operator
     */
    default <T> UnaryOperator<Publisher<T>> paceBy(Function<? super T, String> key) {
        return paceBy(key, element -> 1);
    }

    /**
     * An operator that lets elements through one by one, each in the line of its key. The first that meets a full
     * queue ends it with {@link QueueFullException}.
     *
     * @param key the key of an element
     * @param cost the cost of an element, 1 to 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @param <T> the elements
     * @return the operator, as {@link #paceBy(Function, ToLongFunction, Pacing)} describes it
     */
    default <T> UnaryOperator<Publisher<T>> paceBy(Function<? super T, String> key, ToLongFunction<? super T> cost) {
        return paceBy(key, cost, Pacing.failWhenFull());
    }

    /**
     * An operator that lets elements through one by one, each in the line of its key.
     *
     * <p><b>Time.</b> No element leaves before its departure. Departures are instants of the line, so one that
     * leaves late does not delay the next: there is no drift, as long as no more than {@link Pacing#ahead}
     * intervals are to be caught up. Elements of a key keep their order; those of
     * different keys leave in the order of their departures.
     *
     * <p><b>Demand.</b> Elements are asked for, and reserved, only against demand, and at most
     * {@link Pacing#ahead} at a time: no more than that is ever held here. They leave on the scheduler, or, where
     * there is nothing to wait for, on the thread they arrive on.
     *
     * <p><b>Ends.</b> Completion and errors of the source come right after the last element before them. When the
     * queue is full for an element, its function throws or the store fails, the source is cancelled, and the error
     * comes after those that already have a departure. Cancelling stops the timer and gives the places of those
     * that wait back, the newest first, as far as they are the last of their line.
     *
     * @param key the key of an element
     * @param cost the cost of an element, 1 to 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @param pacing what to do when the queue is full, and how far to reserve ahead
     * @param <T> the elements
     * @return an operator that makes a {@code Mono} of a {@code Mono}, and a {@code Flux} of anything else
     */
    <T> UnaryOperator<Publisher<T>> paceBy(
            Function<? super T, String> key, ToLongFunction<? super T> cost, Pacing<? super T> pacing);
}
