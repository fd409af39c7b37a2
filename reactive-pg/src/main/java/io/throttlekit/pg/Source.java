package io.throttlekit.pg;

import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;

/** Where connections come from, and what becomes of them. To be used on the loop that is to serve them. */
interface Source {
    Future<SqlConnection> open();

    /** Gives a connection up: closes it, or hands it back as it was. */
    Future<Void> giveUp(SqlConnection connection);
}
