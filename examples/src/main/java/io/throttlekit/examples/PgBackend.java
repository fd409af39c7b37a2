package io.throttlekit.examples;

import io.throttlekit.Clock;
import io.throttlekit.Store;
import io.throttlekit.conformance.PostgresServer;
import io.throttlekit.conformance.PostgresServers;
import io.throttlekit.pg.PgStore;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgConnectOptions;
import java.time.Duration;
import java.util.Map;

/** A PostgreSQL server that was started for one replay. */
final class PgBackend implements Replay.Backend {
    private final boolean programs;
    private final PostgresServer server = PostgresServers.own(Map.of());
    private final PgConnectOptions database = PgConnectOptions.fromUri(server.uri(server.createDatabase()));
    private final Vertx vertx = Vertx.vertx();

    PgBackend(Replay.Route route) {
        this.programs = route == Replay.Route.PROGRAM;
    }

    @Override
    public Store open(Clock clock) {
        return PgStore.builder(vertx, database)
                .clock(clock)
                .programs(programs)
                .connections(1)
                .deadline(Duration.ofSeconds(10))
                .sweepInterval(Duration.ZERO)
                .build();
    }

    @Override
    public void close() {
        server.close();
    }
}
