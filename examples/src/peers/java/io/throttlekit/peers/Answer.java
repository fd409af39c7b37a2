package io.throttlekit.peers;

/**
 * What a limiter says to one request.
 *
 * @param allowed whether it may go on
 * @param hintNanos after what time to come again, when it may not; -1 where the library does not say
 */
public record Answer(boolean allowed, long hintNanos) {
    /** An answer of a library that gives no hints. */
    public static Answer of(boolean allowed) {
        return new Answer(allowed, -1);
    }
}
