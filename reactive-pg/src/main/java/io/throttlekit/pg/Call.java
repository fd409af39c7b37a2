package io.throttlekit.pg;

import io.vertx.core.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.MonoSink;

/**
 * One subscription: what is to be done to a key, until when, and whom to tell. It ends once, by its answer, its
 * deadline or its cancellation. Apart from that everything happens on the loop of its lane.
 */
final class Call<R> {
    /** What a call does with a connection. */
    interface Work<R> {
        /** Sends what there is to send. Called again after {@link Call#again} or {@link Call#after}. */
        void start(Call<R> call, Link link);
    }

    final byte[] key;
    final long deadlineNanos;
    private final Lane lane;
    private final AtomicInteger inFlight;
    private final AtomicReference<@Nullable MonoSink<R>> sink;
    private Work<R> work;
    private @Nullable Link link;
    private Turns.@Nullable Turn turn;
    private boolean sent;

    Call(Lane lane, AtomicInteger inFlight, byte[] key, long deadlineNanos, MonoSink<R> sink, Work<R> work) {
        this.lane = lane;
        this.inFlight = inFlight;
        this.key = key;
        this.deadlineNanos = deadlineNanos;
        this.sink = new AtomicReference<>(sink);
        this.work = work;
        sink.onCancel(() -> {
            if (end() != null) {
                lane.forgetSoon(this);
            }
        });
    }

    boolean done() {
        return sink.get() == null;
    }

    /** Whether it was handed to this connection and has not come back. */
    boolean isOn(Link other) {
        return link == other;
    }

    void start(Link on) {
        link = on;
        work.start(this, on);
    }

    /** Where it is kept until it is sent. */
    void waitsIn(Turns.Turn turn) {
        this.turn = turn;
    }

    /** Leaves where it is kept. */
    void leaveTurn() {
        if (turn != null) {
            turn.forget(this);
        }
    }

    /** From here on a change may have happened although no answer comes. */
    void sending() {
        sent = true;
    }

    boolean sent() {
        return sent;
    }

    /** Goes on with other work, on the same connection. */
    void instead(Work<R> other, Link on) {
        work = other;
        other.start(this, on);
    }

    /** Starts again when it is its turn; nothing that was sent has changed anything. */
    void again() {
        link = null;
        sent = false;
        lane.submit(this);
    }

    /** Starts again after a pause of some milliseconds, which grows with the tries there were. */
    void againSoon(int tries) {
        link = null;
        sent = false;
        lane.submitSoon(this, 1 + ThreadLocalRandom.current().nextLong(1L << Math.min(tries, 6)));
    }

    /** Starts again when something is there, or fails as that fails. */
    void after(Future<?> something) {
        link = null;
        sent = false;
        something.onComplete(result -> {
            if (result.succeeded()) {
                lane.submit(this);
            } else {
                lane.run(() -> fail(Faults.of(result.cause(), false)));
            }
        });
    }

    void succeed(R answer) {
        MonoSink<R> waiting = end();
        lane.forget(this);
        if (waiting != null) {
            waiting.success(answer);
        }
    }

    /** Succeeds where there is nothing to tell. */
    void succeed() {
        MonoSink<R> waiting = end();
        lane.forget(this);
        if (waiting != null) {
            waiting.success();
        }
    }

    void fail(Throwable error) {
        MonoSink<R> waiting = end();
        lane.forget(this);
        if (waiting != null) {
            waiting.error(error);
        }
    }

    private @Nullable MonoSink<R> end() {
        MonoSink<R> waiting = sink.getAndSet(null);
        if (waiting != null) {
            inFlight.decrementAndGet();
        }
        return waiting;
    }
}
