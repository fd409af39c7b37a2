package io.throttlekit.pg;

import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Finds the store's table, or makes it: once, on the first connection that asks. */
final class Schema {
    /** Where the table is, or would be, and how it is kept: p, u, or null when there is none. */
    private static final String FIND = """
            SELECT coalesce(n.nspname, current_schema())::text, c.relpersistence::text
            FROM (VALUES (1)) one
            LEFT JOIN pg_catalog.pg_class c ON c.oid = to_regclass($1)
            LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace""";

    private final Settings settings;
    private @Nullable Future<Names> ready;

    Schema(Settings settings) {
        this.settings = settings;
    }

    /** The names, when there is a table. A failure is not remembered. */
    synchronized Future<Names> ready(SqlConnection connection) {
        Future<Names> known = ready;
        if (known != null && !known.failed()) {
            return known;
        }
        Promise<Names> promise = Promise.promise();
        ready = promise.future();
        findOrCreate(connection).onComplete(promise);
        return promise.future();
    }

    /** Looks again, and makes the table again, when the next connection is made. */
    synchronized void forget() {
        Future<Names> known = ready;
        if (known != null && known.isComplete()) {
            ready = null;
        }
    }

    private Future<Names> findOrCreate(SqlConnection connection) {
        return find(connection).compose(found -> {
            if (found.persistence == null) {
                return settings.createSchema() ? create(connection, found) : missing(found, null);
            }
            if (found.persistence.equals("u") && settings.durability() != Durability.UNLOGGED) {
                return Future.failedFuture(new StoreUnavailableException(
                        Reason.SERVER,
                        false,
                        "table " + found.table + " is UNLOGGED and durability is " + settings.durability()
                                + ": choose UNLOGGED or ALTER TABLE " + found.table.quoted() + " SET LOGGED",
                        null));
            }
            return Future.succeededFuture(Names.of(found.table));
        });
    }

    private record Found(TableName table, @Nullable String persistence) {}

    private Future<Found> find(SqlConnection connection) {
        TableName asked = settings.table();
        return connection.preparedQuery(FIND).execute(Tuple.of(asked.quoted())).compose(rows -> {
            Row row = rows.iterator().next();
            String schema = asked.schema() != null ? asked.schema() : row.getString(0);
            return schema == null
                    ? Future.failedFuture("the search path of this user has no schema: name the table with one")
                    : Future.succeededFuture(new Found(asked.in(schema), row.getString(1)));
        });
    }

    /*
     * One message of several statements is one transaction. The lock makes nodes that start together take turns:
     * without it, two CREATE TABLE IF NOT EXISTS at once can fail on the catalogue's own unique keys.
     */
    private Future<Names> create(SqlConnection connection, Found found) {
        Names names = Names.of(found.table);
        String statements = "SELECT pg_advisory_xact_lock(" + names.schemaLock() + "); "
                + (settings.table().schema() == null
                        ? ""
                        : "DO $$ BEGIN IF to_regnamespace('" + quotedSchema(found.table)
                                + "') IS NULL THEN CREATE SCHEMA " + quotedSchema(found.table) + "; END IF; END $$; ")
                + Ddl.table(found.table, settings.durability());
        return unhurried(connection, statements)
                .map(names)
                .recover(cause -> Faults.forbidden(cause) ? missing(found, cause) : Future.failedFuture(cause));
    }

    private static String quotedSchema(TableName table) {
        return '"' + table.schema() + '"';
    }

    /** Runs statements that may have to wait for other nodes. */
    Future<RowSet<Row>> unhurried(SqlConnection connection, String statements) {
        return connection
                .query(Settings.statementTimeout(Duration.ZERO))
                .execute()
                .compose(set -> connection.query(statements).execute())
                .eventually(() -> connection
                        .query(Settings.statementTimeout(settings.deadline()))
                        .execute());
    }

    /** Fails, with the statements that are missing. Their text comes from files, so not on an event loop. */
    private Future<Names> missing(Found found, @Nullable Throwable cause) {
        return OffLoop.call(() -> Ddl.everything(found.table, settings.durability()))
                .compose(statements -> Future.failedFuture(new StoreUnavailableException(
                        Reason.SERVER,
                        false,
                        "table " + found.table + " does not exist"
                                + (cause == null ? " and createSchema is off" : " and this user may not create it")
                                + ". Have these statements run:\n\n" + statements,
                        cause)));
    }
}
