package io.throttlekit.examples.soak;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ExecutionException;

/** A TCP proxy that can hold back what it carries, in both directions and in order. */
final class SlowLine {
    private final Vertx vertx;
    private final NetClient client;
    private final NetServer server;
    private volatile long delayMillis;

    SlowLine(Vertx vertx, String host, int port) {
        this.vertx = vertx;
        this.client = vertx.createNetClient();
        NetServer listening = vertx.createNetServer().connectHandler(near -> {
            near.pause();
            client.connect(port, host).onFailure(refused -> near.close()).onSuccess(far -> {
                carry(near, far);
                carry(far, near);
                near.resume();
            });
        });
        try {
            server = listening
                    .listen(0, "127.0.0.1")
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get();
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException("the line cannot be opened", e);
        }
    }

    int port() {
        return server.actualPort();
    }

    /** From now on everything arrives so much later. */
    void delay(Duration delay) {
        delayMillis = delay.toMillis();
    }

    private void carry(NetSocket from, NetSocket to) {
        Pipe pipe = new Pipe(to);
        from.handler(pipe::carry);
        from.exceptionHandler(broken -> {});
        from.closeHandler(closed -> to.close());
    }

    /** One direction of one connection. Runs on the connection's event loop. */
    private final class Pipe {
        private final NetSocket to;
        private final Queue<Buffer> held = new ArrayDeque<>();

        Pipe(NetSocket to) {
            this.to = to;
        }

        void carry(Buffer bytes) {
            long delay = delayMillis;
            if (delay == 0 && held.isEmpty()) {
                to.write(bytes);
                return;
            }
            // Whichever timer comes first carries what was first.
            held.add(bytes);
            vertx.setTimer(Math.max(1, delay), over -> to.write(held.remove()));
        }
    }
}
