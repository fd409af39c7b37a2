package io.throttlekit.redis;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;

/** Opens connections, on the event loop of the context that it is called on. */
interface Connector {
    /** An attempt at a connection. */
    interface Attempt {
        Future<Wire> wire();

        /** Gives up on it: what was opened is closed, now or when it is there. */
        void abandon();
    }

    Attempt open();

    /** Whether a connection stands for many servers, so that a closed one is no reason to leave the others. */
    boolean isCluster();

    /**
     * A Redis client of its own for every connection.
     *
     * <p>The client never closes a socket whose handshake failed or hangs, hands a connection back to its pool
     * rather than close it, and in a cluster keeps the entries of dead nodes. All that ends with the client.
     */
    record Owning(Vertx vertx, RedisOptions options, boolean isCluster) implements Connector {
        @Override
        public Attempt open() {
            Redis redis = Redis.createClient(vertx, options);
            Future<Wire> wire = redis.connect()
                    .map(connection -> new Wire(connection, redis::close))
                    .onFailure(e -> redis.close());
            return new Attempt() {
                @Override
                public Future<Wire> wire() {
                    return wire;
                }

                @Override
                public void abandon() {
                    redis.close();
                }
            };
        }
    }

    /** Connections of a client that belongs to someone else. */
    record Borrowing(Redis redis, boolean isCluster) implements Connector {
        @Override
        public Attempt open() {
            Future<Wire> wire = redis.connect().map(connection -> new Wire(connection, () -> close(connection)));
            return new Attempt() {
                @Override
                public Future<Wire> wire() {
                    return wire;
                }

                @Override
                public void abandon() {
                    wire.onSuccess(Wire::end);
                }
            };
        }

        /**
         * A pool takes a connection back whatever it still awaits, unless it was used for publish and subscribe:
         * then it closes it.
         */
        private static Future<Void> close(RedisConnection connection) {
            connection.send(Request.cmd(Command.UNSUBSCRIBE));
            return connection.close();
        }
    }
}
