package io.throttlekit.peers;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** A library under test, and what it is tested with. */
record Subject(Class<? extends Library> type, Library library, Servers servers, Runnable scriptFlush) {
    private static final AtomicLong KEYS = new AtomicLong(System.currentTimeMillis() % 1_000_000_000);

    /** A key that nobody used before. */
    String freshKey() {
        return "key" + KEYS.incrementAndGet();
    }

    /** Asks for one so often, and counts what is admitted. */
    static int count(Limit limit, int times) throws Exception {
        int admitted = 0;
        for (int i = 0; i < times; i++) {
            if (limit.ask(1).allowed()) {
                admitted++;
            }
        }
        return admitted;
    }

    /** Waits for an instant of {@link System#nanoTime}. */
    static void sleepUntil(long nanos) {
        for (long left = nanos - System.nanoTime(); left > 0; left = nanos - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /** Waits until no second of the clock ends for a while. */
    static void awayFromSeconds() {
        long millis = System.currentTimeMillis() % 1000;
        if (millis < 100 || millis > 500) {
            sleepIntoSecond(Duration.ZERO, 100);
        }
    }

    /** Waits until the clock is so far into a second, and at least that long. */
    static void sleepIntoSecond(Duration atLeast, int millis) {
        long earliest = System.currentTimeMillis() + atLeast.toMillis();
        long target = earliest + Math.floorMod(millis - earliest, 1000L);
        while (System.currentTimeMillis() < target) {
            LockSupport.parkNanos(Math.max(100_000, (target - System.currentTimeMillis()) * 1_000_000 - 500_000));
        }
    }
}
