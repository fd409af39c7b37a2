package io.throttlekit.concurrency;

import io.throttlekit.Clock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Bounds the requests in flight by a limit that finds itself, and refuses the rest at once: nobody waits here.
 *
 * <pre>{@code
 * mono.transform(guard.protect())       // or an error: ConcurrencyLimitException
 *
 * Lease lease = guard.acquire();        // by hand
 * if (lease.ok()) {
 *     call(whenDone -> lease.release());
 * }
 * }</pre>
 *
 * <p>A guard belongs to one thing that can be overloaded: a server's handlers, or one upstream. It is safe for
 * use from any thread, never blocks and holds no resource that would have to be closed. See
 * {@link AdaptiveConcurrency} for its options.
 *
 * @implNote Limit and number in flight are the two halves of one {@code long}. An admission is one
 *     compare-and-set of both, so it is decided by the very limit that was in force; a release and a change of
 *     the limit each are one addition. The law is run by whichever thread gets the right to; a success that
 *     finds it taken is not measured, since waiting would cost more than a sample is worth. Drops are few and
 *     weigh more: they wait in a count, and the thread that has the right takes them along.
 */
public final class ConcurrencyGuard {
    private static final int LIMIT_SHIFT = 32;
    /** More drops at once than this are as good as this many. */
    private static final int DROPS_AT_ONCE = 64;

    private final Lease refused = Lease.refused();
    private final Clock clock;
    private final Predicate<? super Throwable> drop;
    private final AtomicLong word;
    private final LongAdder rejections = new LongAdder();
    private final LongAdder drops = new LongAdder();

    /** Whoever turns this on may touch {@code control}. */
    private final AtomicBoolean learning = new AtomicBoolean();

    private final LimitControl control;
    private final AtomicInteger waitingDrops = new AtomicInteger();
    private volatile long waitingDropStart;
    private volatile long noLoadNanos;

    ConcurrencyGuard(LimitControl control, Predicate<? super Throwable> drop, Clock clock) {
        this.control = control;
        this.drop = drop;
        this.clock = clock;
        this.word = new AtomicLong((long) control.limit() << LIMIT_SHIFT);
    }

    /**
     * Takes a place if there is one. Never waits and never throws.
     *
     * @return a lease; whether it holds a place is {@link Lease#ok}
     */
    public Lease acquire() {
        long before = word.get();
        while (inFlight(before) < limit(before)) {
            if (word.compareAndSet(before, before + 1)) {
                return Lease.admitted(this, before + 1, clock.monotonicNanos());
            }
            before = word.get();
        }
        rejections.increment();
        return refused;
    }

    /**
     * An operator for a {@code Mono} or {@code Flux}, which holds a place from subscription to the end.
     *
     * <p>Each subscription takes a place, or fails with {@link ConcurrencyLimitException} and does not subscribe
     * to the source. The place is free again before the last signal goes on, so that a retry finds it. A
     * {@code Mono} that succeeds is a sample as soon as its value is there, a {@code Flux} when it completes;
     * an error is one if it is a drop; cancelling only frees the place. Signals stay on the source's threads.
     *
     * @param <T> the elements
     * @return the operator; it returns a {@code Mono} for a {@code Mono}
     */
    public <T> UnaryOperator<Publisher<T>> protect() {
        return source -> source instanceof Mono<T> mono ? protect(mono) : protect(Flux.from(source));
    }

    // What the peeks do not see, such as an error in subscribing, is left to the clean-up of using().
    private <T> Mono<T> protect(Mono<T> source) {
        return Mono.using(
                this::acquireOrThrow,
                lease -> source.doOnSuccess(value -> lease.release()).doOnError(lease::releaseFailed),
                Lease::cancel,
                true);
    }

    private <T> Flux<T> protect(Flux<T> source) {
        return Flux.using(
                this::acquireOrThrow,
                lease -> source.doOnComplete(lease::release).doOnError(lease::releaseFailed),
                Lease::cancel,
                true);
    }

    private Lease acquireOrThrow() {
        Lease lease = acquire();
        if (!lease.ok()) {
            throw new ConcurrencyLimitException(limit());
        }
        return lease;
    }

    /**
     * The limit as it is now.
     *
     * @return from the least to the highest limit of the options
     */
    public int limit() {
        return limit(word.get());
    }

    /**
     * How many places are taken now. It is above the limit only while the limit has just been lowered.
     *
     * @return 0 or more
     */
    public int inFlight() {
        return inFlight(word.get());
    }

    /**
     * The guard's numbers; the limit and the number in flight are of the same instant.
     *
     * @return a snapshot
     */
    public Stats stats() {
        long now = word.get();
        return new Stats(limit(now), inFlight(now), Duration.ofNanos(noLoadNanos), rejections.sum(), drops.sum());
    }

    /**
     * What a guard can tell about itself.
     *
     * @param limit the limit
     * @param inFlight how many places are taken
     * @param noLoadRtt how long requests take without a queue, as far as known; zero before the first is known
     * @param rejected how many were refused so far
     * @param dropped how many were given back as dropped so far
     */
    public record Stats(int limit, int inFlight, Duration noLoadRtt, long rejected, long dropped) {}

    boolean isDrop(Throwable error) {
        return drop.test(error);
    }

    void left() {
        word.getAndDecrement();
    }

    void succeeded(long admission, long startNanos) {
        left();
        if (learning.compareAndSet(false, true)) {
            try {
                long now = clock.monotonicNanos();
                control.succeeded(now, now - startNanos, inFlight(admission), limit(admission));
                publish();
            } finally {
                // Cheaper than a full fence; a drop that is overlooked for it is taken along the next time.
                learning.setRelease(false);
            }
            learnDrops();
        }
    }

    void dropped(long startNanos) {
        left();
        drops.increment();
        waitingDropStart = startNanos;
        waitingDrops.getAndIncrement();
        learnDrops();
    }

    /** Who finds the right taken leaves the drop to its holder, who looks here after giving it up. */
    private void learnDrops() {
        while (waitingDrops.get() > 0 && learning.compareAndSet(false, true)) {
            try {
                long now = clock.monotonicNanos();
                long rtt = now - waitingDropStart;
                for (int n = Math.min(DROPS_AT_ONCE, waitingDrops.getAndSet(0)); n > 0; n--) {
                    control.dropped(now, rtt);
                }
                publish();
            } finally {
                learning.set(false);
            }
        }
    }

    private void publish() {
        long change = (long) control.limit() - limit(word.get());
        if (change != 0) {
            word.getAndAdd(change << LIMIT_SHIFT);
        }
        long noLoad = control.noLoadNanos();
        if (noLoad != noLoadNanos) {
            noLoadNanos = noLoad;
        }
    }

    private static int limit(long word) {
        return (int) (word >>> LIMIT_SHIFT);
    }

    private static int inFlight(long word) {
        return (int) word;
    }
}
