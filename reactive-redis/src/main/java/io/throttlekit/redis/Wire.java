package io.throttlekit.redis;

import io.vertx.core.Future;
import io.vertx.redis.client.RedisConnection;
import java.util.function.Supplier;

/** One open connection, and how to end it. Used on its event loop alone. */
final class Wire {
    final RedisConnection connection;
    private final Supplier<Future<Void>> ending;

    /** Commands that were written and not answered. */
    int unanswered;

    /** When something was heard last while waiting, or when the waiting began. */
    long heardNanos;

    /** Another wire took its place. */
    private boolean retired;

    private boolean ended;

    Wire(RedisConnection connection, Supplier<Future<Void>> ending) {
        this.connection = connection;
        this.ending = ending;
    }

    void sent(long nowNanos) {
        if (unanswered++ == 0) {
            heardNanos = nowNanos;
        }
    }

    /**
     * A command is no longer owed an answer.
     *
     * @param heard whether that is since the answer came
     */
    void answered(long nowNanos, boolean heard) {
        unanswered--;
        if (heard) {
            heardNanos = nowNanos;
        }
        if (retired && unanswered == 0) {
            end();
        }
    }

    /** How long it has been owing an answer. */
    long silentNanos(long nowNanos) {
        return unanswered == 0 ? 0 : nowNanos - heardNanos;
    }

    /** Ends it, with its last answer if there are some to come. */
    void retire() {
        retired = true;
        if (unanswered == 0) {
            end();
        }
    }

    /** Closes the socket; commands without an answer fail. */
    Future<Void> end() {
        if (ended) {
            return Future.succeededFuture();
        }
        ended = true;
        return ending.get();
    }
}
