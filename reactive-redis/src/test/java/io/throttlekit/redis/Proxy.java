package io.throttlekit.redis;

import io.throttlekit.conformance.RedisServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Stands between a store and a server, and does to their bytes what a bad network does. */
final class Proxy implements AutoCloseable {
    /** What happens to bytes. */
    enum Weather {
        FINE,
        /** They come late, a few at a time. */
        SLOW,
        /** They do not arrive, and nobody is told. */
        SWALLOWING,
        /** One in a few hundred does not arrive. */
        LOSSY
    }

    private final ServerSocket listener;
    private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
    private final AtomicInteger chunksToServer = new AtomicInteger();
    private volatile RedisServer target;
    private volatile Weather toServer = Weather.FINE;
    private volatile Weather toClient = Weather.FINE;

    private Proxy(RedisServer target) {
        this.target = target;
        try {
            listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        start("accept", this::accept);
    }

    static Proxy to(RedisServer target) {
        return new Proxy(target);
    }

    String uri() {
        return "redis://127.0.0.1:" + listener.getLocalPort();
    }

    /** Where further connections lead. */
    void leadTo(RedisServer other) {
        target = other;
    }

    void weather(Weather toServer, Weather toClient) {
        this.toServer = toServer;
        this.toClient = toClient;
    }

    /** Ends all connections. */
    void cut() {
        for (Socket socket = sockets.poll(); socket != null; socket = sockets.poll()) {
            close(socket);
        }
    }

    /** Reads that had something for the server. */
    int chunksToServer() {
        return chunksToServer.get();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                Socket server = new Socket(target.host(), target.port());
                client.setTcpNoDelay(true);
                server.setTcpNoDelay(true);
                sockets.add(client);
                sockets.add(server);
                start("to server", () -> copy(client, server, true));
                start("to client", () -> copy(server, client, false));
            } catch (IOException e) {
                // This one did not come about; the next may.
                Thread.onSpinWait();
            }
        }
    }

    private void copy(Socket from, Socket to, boolean towardsServer) {
        byte[] buffer = new byte[64 * 1024];
        int count = 0;
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                if (towardsServer) {
                    chunksToServer.incrementAndGet();
                }
                Weather weather = towardsServer ? toServer : toClient;
                switch (weather) {
                    case FINE -> out.write(buffer, 0, length);
                    case SWALLOWING -> {}
                    case SLOW -> {
                        for (int i = 0; i < length; i += 100) {
                            LockSupport.parkNanos(1_000_000);
                            out.write(buffer, i, Math.min(100, length - i));
                        }
                    }
                    case LOSSY -> {
                        for (int i = 0; i < length; i++) {
                            if (count++ % 337 != 336) {
                                out.write(buffer, i, 1);
                            }
                        }
                    }
                }
            }
        } catch (IOException e) {
            // One side is gone, and the other one now, too.
            close(from);
            close(to);
        }
    }

    private static void start(String name, Runnable task) {
        Thread thread = new Thread(task, "proxy " + name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        cut();
    }
}
