package io.throttlekit.examples.soak;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * How long the machine itself stood still: a thread that wants to wake up every few milliseconds notes when it could
 * not. Nobody can answer in time then.
 */
final class Pauses implements AutoCloseable {
    private static final long TICK_NANOS = Duration.ofMillis(5).toNanos();
    private static final int SLOTS = 64;
    private static final long SLOT_NANOS = Duration.ofMillis(100).toNanos();

    /** How long it stood still in each of the last tenths of a second, and which tenth that was. */
    private final AtomicLongArray stills = new AtomicLongArray(SLOTS);

    private final AtomicLongArray tenths = new AtomicLongArray(SLOTS);
    private final long originNanos = System.nanoTime();
    private volatile boolean closed;

    Pauses() {
        Thread ticker = new Thread(this::tick, "soak-pauses");
        ticker.setDaemon(true);
        ticker.start();
    }

    private void tick() {
        long last = System.nanoTime();
        while (!closed) {
            LockSupport.parkNanos(TICK_NANOS);
            long now = System.nanoTime();
            note(now, Math.max(0, now - last - TICK_NANOS));
            last = now;
        }
    }

    private void note(long now, long still) {
        long tenth = (now - originNanos) / SLOT_NANOS;
        int slot = (int) (tenth % SLOTS);
        if (tenths.get(slot) != tenth) {
            stills.set(slot, 0);
            tenths.set(slot, tenth);
        }
        stills.addAndGet(slot, still);
    }

    /** How long it stood still in so much time before now, in nanoseconds, a little more rather than less. */
    long within(long nanos) {
        long tenth = (System.nanoTime() - originNanos) / SLOT_NANOS;
        long oldest = tenth - Math.min(SLOTS - 1, nanos / SLOT_NANOS + 1);
        long sum = 0;
        for (int slot = 0; slot < SLOTS; slot++) {
            long then = tenths.get(slot);
            if (then >= oldest && then <= tenth) {
                sum += stills.get(slot);
            }
        }
        return sum;
    }

    @Override
    public void close() {
        closed = true;
    }
}
