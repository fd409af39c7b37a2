package io.throttlekit.redis;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.vertx.core.Completable;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.internal.VertxWrapper;
import io.vertx.core.internal.net.NetClientInternal;
import io.vertx.core.internal.net.NetSocketInternal;
import io.vertx.core.net.ClientSSLOptions;
import io.vertx.core.net.ConnectOptions;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.net.NetSocket;
import io.vertx.core.net.SocketAddress;
import io.vertx.core.spi.metrics.Metrics;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A Vert.x whose sockets flush once per turn of the event loop, not once per command.
 *
 * <p>The Redis client writes and flushes each command, one system call each, unless it happens to be reading
 * replies at that moment. A hundred checks that other threads start together would be a hundred packets.
 * Netty has the remedy; this puts it into the pipelines of the connections that the client opens.
 */
final class FlushingVertx extends VertxWrapper {
    private static final int MAX_WRITES_PER_FLUSH = 256;

    FlushingVertx(VertxInternal vertx) {
        super(vertx);
    }

    @Override
    public NetClient createNetClient(NetClientOptions options) {
        return new FlushingClient((NetClientInternal) delegate.createNetClient(options));
    }

    private static NetSocket consolidate(NetSocket socket) {
        ChannelHandlerContext handler = ((NetSocketInternal) socket).channelHandlerContext();
        handler.pipeline()
                .addBefore(handler.name(), "flushOnce", new FlushConsolidationHandler(MAX_WRITES_PER_FLUSH, true));
        return socket;
    }

    private record FlushingClient(NetClientInternal client) implements NetClientInternal {
        @Override
        public void connectInternal(ConnectOptions options, Promise<NetSocket> connected, ContextInternal context) {
            Promise<NetSocket> opened = context.promise();
            opened.future().map(FlushingVertx::consolidate).onComplete(connected);
            client.connectInternal(options, opened, context);
        }

        @Override
        public Future<NetSocket> connect(int port, String host) {
            return client.connect(port, host).map(FlushingVertx::consolidate);
        }

        @Override
        public Future<NetSocket> connect(int port, String host, String serverName) {
            return client.connect(port, host, serverName).map(FlushingVertx::consolidate);
        }

        @Override
        public Future<NetSocket> connect(SocketAddress address) {
            return client.connect(address).map(FlushingVertx::consolidate);
        }

        @Override
        public Future<NetSocket> connect(SocketAddress address, String serverName) {
            return client.connect(address, serverName).map(FlushingVertx::consolidate);
        }

        @Override
        public Future<NetSocket> connect(ConnectOptions options) {
            return client.connect(options).map(FlushingVertx::consolidate);
        }

        @Override
        public Future<Void> shutdown(long timeout, TimeUnit unit) {
            return client.shutdown(timeout, unit);
        }

        @Override
        public Future<Boolean> updateSSLOptions(ClientSSLOptions options, boolean force) {
            return client.updateSSLOptions(options, force);
        }

        @Override
        public Future<Void> closeFuture() {
            return client.closeFuture();
        }

        @Override
        public void close(Completable<Void> completion) {
            client.close(completion);
        }

        @Override
        public boolean isMetricsEnabled() {
            return client.isMetricsEnabled();
        }

        @Override
        public @Nullable Metrics getMetrics() {
            return client.getMetrics();
        }
    }
}
