package io.throttlekit.redis.bench;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A closed loop: so many requests are always on their way, and each answer starts the next. All of it happens on
 * one event loop, or on as many as a peer needs.
 */
abstract class Loop {
    /**
     * What one run showed.
     *
     * @param perSecond answers per second
     * @param p50Micros half of the answers came within this
     * @param p99Micros 99 of 100 did
     */
    record Result(double perSecond, double p50Micros, double p99Micros) {}

    private static final int SAMPLES = 1 << 22;

    private final long[] nanos = new long[SAMPLES];
    private final CountDownLatch ended = new CountDownLatch(1);
    private int answers;
    private int running;
    private int index;
    private long startNanos;
    private long endNanos;

    /** Runs a task on the event loop. */
    abstract void onLoop(Runnable task);

    /** Sends one request, whose answer calls {@link #answered}. */
    abstract void send(int index, long startedNanos);

    /** Ends what it opened. */
    void close() {}

    Result run(int inFlight, Duration time) {
        onLoop(() -> {
            synchronized (this) {
                startNanos = System.nanoTime();
                endNanos = startNanos + time.toNanos();
                running = inFlight;
                index = inFlight;
            }
            for (int i = 0; i < inFlight; i++) {
                send(i, System.nanoTime());
            }
        });
        try {
            if (!ended.await(time.toSeconds() + 30, TimeUnit.SECONDS)) {
                throw new IllegalStateException("the loop hangs");
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        close();
        int seen = Math.min(answers, SAMPLES);
        Arrays.sort(nanos, 0, seen);
        return new Result(
                answers * 1e9 / (endNanos - startNanos), nanos[seen / 2] / 1e3, nanos[(int) (seen * 0.99)] / 1e3);
    }

    final void answered(long startedNanos) {
        long now = System.nanoTime();
        int next;
        synchronized (this) {
            nanos[answers & (SAMPLES - 1)] = now - startedNanos;
            answers++;
            if (now - endNanos >= 0) {
                if (--running == 0) {
                    endNanos = now;
                    ended.countDown();
                }
                return;
            }
            next = index++;
        }
        send(next, now);
    }

    final void failed(Throwable error) {
        error.printStackTrace();
        System.exit(1);
    }
}
