package io.throttlekit.examples.soak;

import io.throttlekit.Store;
import io.throttlekit.conformance.RedisServer;
import io.throttlekit.conformance.RedisServers;
import io.throttlekit.redis.RedisStore;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;

/**
 * A Redis server that writes everything to its file before it answers, so that it forgets nothing when it is
 * killed, behind a line that can be slow.
 */
final class RedisBackend implements Backend {
    private static final Duration DEADLINE = Duration.ofMillis(250);

    private final RedisServer server = RedisServers.own("--appendonly", "yes", "--appendfsync", "always");
    private final SlowLine line;
    private final RedisStore store;

    RedisBackend(Vertx vertx) {
        line = new SlowLine(vertx, server.host(), server.port());
        store = RedisStore.builder("redis://127.0.0.1:" + line.port())
                .deadline(DEADLINE)
                .build();
    }

    @Override
    public String name() {
        return "redis";
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
                Fault.of("redis kill -9", server::kill, Duration.ofMillis(500), server::restart),
                Fault.of("redis SIGSTOP", server::freeze, Duration.ofMillis(700), server::thaw),
                Fault.of("redis CLIENT KILL", () -> server.command("CLIENT", "KILL", "TYPE", "normal")),
                Fault.of("redis SCRIPT FLUSH", () -> server.command("SCRIPT", "FLUSH")),
                Fault.of(
                        "redis slow line",
                        () -> line.delay(Duration.ofMillis(400)),
                        Duration.ofSeconds(1),
                        () -> line.delay(Duration.ZERO)));
    }

    /** Without the one that asks. */
    @Override
    public long connections() {
        return String.valueOf(server.command("CLIENT", "LIST")).strip().lines().count() - 1;
    }

    @Override
    public long keys() {
        return Long.parseLong(String.valueOf(server.command("DBSIZE")));
    }

    @Override
    public void close() {
        store.close().block(Duration.ofSeconds(10));
        server.close();
    }
}
