package io.throttlekit.examples;

import io.throttlekit.Clock;
import io.throttlekit.Store;
import io.throttlekit.conformance.RedisServer;
import io.throttlekit.conformance.RedisServers;
import io.throttlekit.examples.Replay.Backend;
import io.throttlekit.examples.Replay.Route;
import io.throttlekit.redis.RedisStore;
import io.vertx.core.Vertx;
import io.vertx.redis.client.RedisOptions;
import java.time.Duration;

/**
 * A Redis server that was started for a replay, and stores on it.
 *
 * @param server the server, which ends with the replay
 * @param vertx the event loops of all stores
 * @param route which path the stores take
 */
record RedisBackend(RedisServer server, Vertx vertx, Route route) implements Backend {
    private static final Duration DEADLINE = Duration.ofSeconds(5);

    static Backend start(Route route) {
        return new RedisBackend(RedisServers.own(), Vertx.vertx(), route);
    }

    @Override
    public Store open(Clock clock) {
        return RedisStore.builder(vertx, new RedisOptions().setConnectionString(server.uri()))
                .connections(1)
                .deadline(DEADLINE)
                .programs(route == Route.PROGRAM)
                .clock(clock)
                .build();
    }

    @Override
    public void close() {
        vertx.close();
        server.close();
    }
}
