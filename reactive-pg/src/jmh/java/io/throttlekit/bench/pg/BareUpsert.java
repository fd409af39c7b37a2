package io.throttlekit.bench.pg;

import io.throttlekit.pg.Durability;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.pgclient.PgConnection;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import reactor.core.publisher.Mono;

/**
 * What a store cannot be faster than: one prepared upsert that adds one to a row, through the same client, on as many
 * connections that pipeline, a key always on the same one.
 */
final class BareUpsert implements AutoCloseable {
    private final List<PgConnection> connections = new ArrayList<>();
    private final String sql;

    BareUpsert(Vertx vertx, String uri, int count, Durability durability) {
        String table = "bare_" + durability.name().toLowerCase(Locale.ROOT);
        this.sql = "INSERT INTO " + table + " AS t (key, n, expires) VALUES ($1, 1, $2) ON CONFLICT (key) DO UPDATE"
                + " SET n = t.n + 1, expires = excluded.expires RETURNING n";
        PgConnectOptions options =
                PgConnectOptions.fromUri(uri).setCachePreparedStatements(true).setPipeliningLimit(128);
        for (int i = 0; i < count; i++) {
            PgConnection connection = wait(PgConnection.connect(vertx, options));
            wait(connection
                    .query("SET synchronous_commit = " + (durability == Durability.ASYNC_COMMIT ? "off" : "on"))
                    .execute());
            connections.add(connection);
        }
        wait(connections
                .get(0)
                .query("CREATE " + (durability == Durability.UNLOGGED ? "UNLOGGED " : "") + "TABLE IF NOT EXISTS "
                        + table + " (key bytea PRIMARY KEY, n bigint, expires bigint) WITH (fillfactor = 70)")
                .execute());
    }

    Mono<RowSet<Row>> add(String key) {
        PgConnection connection = connections.get(Math.floorMod(key.hashCode(), connections.size()));
        Tuple row = Tuple.of(Buffer.buffer(key.getBytes(StandardCharsets.UTF_8)), System.nanoTime());
        return Mono.create(sink -> connection.preparedQuery(sql).execute(row).onComplete(result -> {
            if (result.succeeded()) {
                sink.success(result.result());
            } else {
                sink.error(result.cause());
            }
        }));
    }

    @Override
    public void close() {
        connections.forEach(connection -> wait(connection.close()));
    }

    private static <T> T wait(Future<T> future) {
        return future.toCompletionStage().toCompletableFuture().join();
    }
}
