package io.throttlekit.examples.soak;

import io.throttlekit.Store;
import io.throttlekit.conformance.PostgresServer;
import io.throttlekit.conformance.PostgresServers;
import io.throttlekit.pg.PgStore;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgConnectOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A PostgreSQL server that waits for its disk, behind a line that can be slow. */
final class PgBackend implements Backend {
    private static final Duration DEADLINE = Duration.ofMillis(500);
    private static final String OTHERS =
            " FROM pg_stat_activity a WHERE datname = current_database() AND pid <> pg_backend_pid()";
    /** One more sweeps, which may come later than the others; it holds a lock that says so. */
    private static final String NOT_SWEEPING =
            " AND NOT EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.locktype = 'advisory')";

    private final PostgresServer server =
            PostgresServers.own(Map.of("fsync", "on", "synchronous_commit", "on", "client_min_messages", "warning"));
    private final String database = server.createDatabase();
    private final SlowLine line;
    private final PgStore store;

    PgBackend(Vertx vertx) {
        line = new SlowLine(vertx, server.host(), server.port());
        PgConnectOptions options = PgConnectOptions.fromUri(server.uri(database))
                .setHost("127.0.0.1")
                .setPort(line.port());
        store = PgStore.builder(vertx, options)
                .deadline(DEADLINE)
                .sweepInterval(Duration.ofSeconds(1))
                .build();
    }

    @Override
    public String name() {
        return "postgres";
    }

    @Override
    public Store store() {
        return store;
    }

    @Override
    public Duration deadline() {
        return DEADLINE;
    }

    @Override
    public List<Fault> faults() {
        return List.of(
                Fault.of(
                        "pg_terminate_backend",
                        () -> server.query(database, "SELECT pg_terminate_backend(pid)" + OTHERS)),
                Fault.of("postgres restart", server::stop, Duration.ofMillis(300), server::start),
                Fault.of("postgres SIGSTOP", server::freeze, Duration.ofMillis(700), server::thaw),
                Fault.of("postgres LOCK TABLE", this::lockTable),
                Fault.of(
                        "postgres slow line",
                        () -> line.delay(Duration.ofMillis(400)),
                        Duration.ofSeconds(1),
                        () -> line.delay(Duration.ZERO)));
    }

    private void lockTable() {
        try (Connection connection = server.connect(database);
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("LOCK TABLE throttlekit IN ACCESS EXCLUSIVE MODE");
            Backend.pause(Duration.ofMillis(700));
            connection.rollback();
        } catch (SQLException e) {
            throw new IllegalStateException("the table cannot be locked", e);
        }
    }

    @Override
    public long connections() {
        return server.number(database, "SELECT count(*)" + OTHERS + NOT_SWEEPING);
    }

    @Override
    public long keys() {
        return server.number(database, "SELECT count(*) FROM throttlekit");
    }

    @Override
    public void close() {
        store.close().block(Duration.ofSeconds(10));
        server.close();
    }
}
