package io.throttlekit.peers;

import java.time.Duration;

/**
 * A library with one place for its state, used as its documentation says. An implementation has a public constructor
 * that takes {@link Servers}.
 */
public interface Library extends AutoCloseable {
    /** The name in the table. */
    String name();

    /** Whether a new limit has its burst to spend. */
    default boolean startsFull() {
        return true;
    }

    /** Whether its state is on a server, for several nodes. */
    default boolean shared() {
        return false;
    }

    /** Whether that server is Redis. */
    default boolean onRedis() {
        return false;
    }

    /** So many units per period, all of which may be taken at once: the library's most usual way. */
    Limit perPeriod(String key, long limit, Duration period) throws Exception;

    /** So many units in any window, where the library has something that promises it. */
    default Limit perWindow(String key, long limit, Duration window) throws Exception {
        return perPeriod(key, limit, window);
    }

    /** So many units per second, one at a time. */
    Limit evenly(String key, long perSecond) throws Exception;

    /** One unit per interval, for those who wait. */
    default Limit waiting(String key, Duration interval) throws Exception {
        return perPeriod(key, 1, interval);
    }

    @Override
    default void close() throws Exception {}
}
