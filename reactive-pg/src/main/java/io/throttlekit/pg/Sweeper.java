package io.throttlekit.pg;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import reactor.util.Logger;
import reactor.util.Loggers;

/**
 * Deletes expired rows now and then, on a connection of its own.
 *
 * <p>One node sweeps: the one that holds the table's advisory lock, for as long as its connection lives. It goes
 * through the table a few pages at a time, since there is no index on the expiry, and deletes at most a batch with
 * one statement. Rows that are in use it leaves for the next time.
 */
final class Sweeper {
    private static final Logger LOG = Loggers.getLogger(PgStore.class);
    private static final int PAGES = 256;
    private static final Duration STATEMENT_TIMEOUT = Duration.ofSeconds(30);

    private final Vertx vertx;
    private final Context loop;
    private final Source source;
    private final Settings settings;
    private final Schema schema;
    private boolean started;
    private boolean closed;
    private @Nullable SqlConnection leading;
    private Future<Void> turn = Future.succeededFuture();

    Sweeper(Vertx vertx, Context loop, Source source, Settings settings, Schema schema) {
        this.vertx = vertx;
        this.loop = loop;
        this.source = source;
        this.settings = settings;
        this.schema = schema;
    }

    /** Begins to sweep, once, unless it is off. From any thread. */
    void start() {
        loop.runOnContext(nothing -> {
            if (!started && !settings.sweepInterval().isZero()) {
                started = true;
                schedule();
            }
        });
    }

    /** Nodes that were started together do not sweep together. */
    private void schedule() {
        long millis = Math.max(2, settings.sweepInterval().toMillis());
        long next = 1 + millis / 2 + ThreadLocalRandom.current().nextLong(millis);
        vertx.setTimer(next, over -> {
            if (!closed) {
                turn = sweep().onComplete(done -> schedule());
            }
        });
    }

    /** A turn; whatever goes wrong in it is only logged, since the next one makes up for it. */
    private Future<Void> sweep() {
        Future<SqlConnection> connection = leading == null ? lead() : Future.succeededFuture(leading);
        return connection
                .compose(open -> open == null ? Future.succeededFuture() : pass(open), Future::failedFuture)
                .recover(cause -> {
                    LOG.debug("A sweep ended early", cause);
                    return resign();
                });
    }

    /** A connection that holds the lock; null when another node has it. */
    private Future<@Nullable SqlConnection> lead() {
        return source.open().compose(open -> {
            leading = open;
            open.exceptionHandler(error -> {});
            return open.query(settings.session() + "; " + Settings.statementTimeout(STATEMENT_TIMEOUT))
                    .execute()
                    .compose(set -> schema.ready(open))
                    .compose(names -> open.query("SELECT pg_try_advisory_lock(" + names.sweepLock() + ")")
                            .execute())
                    .compose(rows -> rows.iterator().next().getBoolean(0)
                            ? Future.succeededFuture(open)
                            : resign().map(resigned -> null));
        });
    }

    private Future<Void> resign() {
        SqlConnection last = leading;
        leading = null;
        return last == null ? Future.succeededFuture() : source.giveUp(last);
    }

    private Future<Void> pass(SqlConnection open) {
        return schema.ready(open).compose(names -> {
            String size =
                    "SELECT pg_relation_size('" + names.table().quoted() + "') / current_setting('block_size')::bigint";
            return open.query(size)
                    .execute()
                    .compose(
                            rows -> pages(open, names, 0, rows.iterator().next().getLong(0)));
        });
    }

    private Future<Void> pages(SqlConnection open, Names names, long from, long end) {
        if (closed || from >= end) {
            return Future.succeededFuture();
        }
        String table = names.table().quoted();
        String expired = "DELETE FROM " + table + " WHERE ctid = ANY (ARRAY(SELECT t.ctid FROM " + table
                + " t WHERE t.ctid >= '(" + from + ",0)'::tid AND t.ctid < '(" + (from + PAGES) + ",0)'::tid"
                + " AND greatest(t.expires, t.sweep) <= " + Names.SERVER_MICROS + " LIMIT " + settings.sweepBatch()
                + " FOR UPDATE SKIP LOCKED))";
        Future<RowSet<Row>> deleted = open.query(expired).execute();
        // Through a promise, so that a long table makes no deep chain of futures.
        Promise<Void> rest = Promise.promise();
        deleted.onComplete(result -> {
            if (result.failed()) {
                rest.fail(result.cause());
            } else {
                boolean more = result.result().rowCount() >= settings.sweepBatch();
                pages(open, names, more ? from : from + PAGES, end).onComplete(rest);
            }
        });
        return rest.future();
    }

    /** Stops, after the statement that runs. From any thread. */
    Future<Void> close() {
        Promise<Void> promise = Promise.promise();
        try {
            loop.runOnContext(nothing -> {
                closed = true;
                turn.eventually(this::resign).onComplete(promise);
            });
        } catch (RejectedExecutionException e) {
            promise.complete();
        }
        return promise.future();
    }
}
