package io.throttlekit.pg;

import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A connection in service: sends statements without waiting for earlier ones, and counts what is out. Everything
 * happens on the loop of its lane.
 */
final class Link {
    private static final long MIN_AGE_NANOS = 1_000_000_000;

    final SqlConnection connection;
    final Names names;
    final Denials denials = new Denials();
    final Turns turns;
    private final Lane lane;
    private final long sinceNanos = System.nanoTime();
    /** When the server last answered, or was first asked something after it had answered everything. */
    private long heardNanos;

    private int out;
    private @Nullable Object holder;
    private boolean retired;
    private boolean gone;

    Link(Lane lane, SqlConnection connection, Names names, boolean shareCommits) {
        this.lane = lane;
        this.connection = connection;
        this.names = names;
        this.turns = new Turns(this, shareCommits);
    }

    /** Sends a prepared statement. One of the two is called, at most once, on the lane's loop. */
    void query(String sql, Tuple arguments, Consumer<RowSet<Row>> answered, Consumer<Throwable> failed) {
        send(connection.preparedQuery(sql).execute(arguments), answered, failed);
    }

    /**
     * Sends a prepared statement once for each of the arguments, as one transaction. The rows of each further one are
     * the {@code next()} of those before.
     */
    void queryEach(String sql, List<Tuple> arguments, Consumer<RowSet<Row>> answered, Consumer<Throwable> failed) {
        if (arguments.size() == 1) {
            query(sql, arguments.get(0), answered, failed);
        } else {
            send(connection.preparedQuery(sql).executeBatch(arguments), answered, failed);
        }
    }

    /** Sends statements that need no arguments, as one message. */
    void say(String sql, Consumer<RowSet<Row>> answered, Consumer<Throwable> failed) {
        send(connection.query(sql).execute(), answered, failed);
    }

    private void send(Future<RowSet<Row>> reply, Consumer<RowSet<Row>> answered, Consumer<Throwable> failed) {
        if (out++ == 0) {
            heardNanos = System.nanoTime();
        }
        reply.onComplete(result -> {
            out--;
            heardNanos = System.nanoTime();
            if (result.succeeded()) {
                answered.accept(result.result());
            } else {
                Throwable cause = result.cause();
                if (Faults.sessionEnded(cause)) {
                    lane.lost(this, cause);
                } else if (Faults.uselessSession(cause) && heardNanos - sinceNanos > MIN_AGE_NANOS) {
                    lane.retire(this);
                }
                failed.accept(cause);
            }
            if (retired) {
                giveUpWhenDone();
            }
            lane.pump();
        });
    }

    /** Whether the connection is beyond use. */
    boolean gone() {
        return gone;
    }

    /** Marks it so; true for the first who does. */
    boolean end() {
        boolean first = !gone;
        gone = true;
        return first;
    }

    /** Whether another call may be started. */
    boolean free() {
        return !gone && holder == null && out < Lane.WINDOW;
    }

    /** Keeps everyone else from sending until {@link #release}: a transaction is open. */
    void hold(Object by) {
        holder = by;
    }

    void release() {
        holder = null;
        if (retired) {
            giveUpWhenDone();
        }
        lane.pump();
    }

    /** Whether the server has been silent for too long although something is out. */
    boolean silentFor(long nanos) {
        return out > 0 && System.nanoTime() - heardNanos > nanos;
    }

    /** Takes no more calls; ends when those that are out have been answered. */
    void retire() {
        retired = true;
        giveUpWhenDone();
    }

    private void giveUpWhenDone() {
        if (out == 0 && holder == null && end()) {
            lane.giveUp(connection);
        }
    }
}
