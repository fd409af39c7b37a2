package io.throttlekit.examples.soak;

import io.throttlekit.Store;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A store, the server behind it, and what can go wrong with that server. */
interface Backend extends AutoCloseable {
    String name();

    Store store();

    /** Of every call. */
    Duration deadline();

    List<Fault> faults();

    /** Connections to the server; zero without one. */
    long connections();

    /** Keys that are kept. */
    long keys();

    @Override
    void close();

    /**
     * What can go wrong.
     *
     * @param name how it is told
     * @param strike does it, and mends it before it returns
     */
    record Fault(String name, Runnable strike) {
        /** A fault that is on for a while. */
        static Fault of(String name, Runnable begin, Duration lasts, Runnable end) {
            return new Fault(name, () -> {
                begin.run();
                try {
                    pause(lasts);
                } finally {
                    end.run();
                }
            });
        }

        /** A fault that the server gets over by itself. */
        static Fault of(String name, Runnable strike) {
            return new Fault(name, strike);
        }
    }

    /** Waits, on a thread that may. */
    static void pause(Duration time) {
        try {
            TimeUnit.NANOSECONDS.sleep(time.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
