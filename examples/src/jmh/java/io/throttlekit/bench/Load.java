package io.throttlekit.bench;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Kept-alive connections to one port, driven by the thread that calls. It spins rather than sleeps between two
 * requests, so that each is sent when it is due and not with those that became due while the thread woke up.
 */
final class Load implements Closeable {
    private static final int CONNECTIONS = 16;

    /** How each response ends, and how none of them begins. */
    private static final byte[] BODY = "hello".getBytes(StandardCharsets.US_ASCII);

    private static final String OK = "HTTP/1.1 200 OK\r\n";

    private final Selector selector = Selector.open();
    private final Deque<Lane> idle = new ArrayDeque<>();
    private int answered;

    Load(int port) throws IOException {
        for (int i = 0; i < CONNECTIONS; i++) {
            idle.add(new Lane(port));
        }
    }

    /** As many requests, one every so many nanoseconds, or as soon as there is a connection for it. */
    void send(int requests, long intervalNanos) throws IOException {
        answered = 0;
        int sent = 0;
        long start = System.nanoTime();
        while (answered < requests) {
            while (sent < requests && !idle.isEmpty() && System.nanoTime() - start >= sent * intervalNanos) {
                idle.remove().send();
                sent++;
            }
            selector.selectNow(key -> ((Lane) key.attachment()).receive());
        }
    }

    /** One response, for a look at it. */
    String response() throws IOException {
        Lane lane = idle.getLast();
        while (idle.getFirst() != lane) {
            idle.add(idle.remove());
        }
        send(1, 0);
        return lane.text();
    }

    @Override
    public void close() throws IOException {
        for (SelectionKey key : selector.keys()) {
            key.channel().close();
        }
        selector.close();
    }

    private final class Lane {
        private final SocketChannel channel;
        private final ByteBuffer request;
        private final ByteBuffer response = ByteBuffer.allocateDirect(4096);

        Lane(int port) throws IOException {
            channel = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ, this);
            byte[] text =
                    ("GET / HTTP/1.1\r\nhost: 127.0.0.1:" + port + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII);
            request = ByteBuffer.allocateDirect(text.length).put(text);
        }

        void send() throws IOException {
            response.clear();
            channel.write(request.flip());
            if (request.hasRemaining()) {
                throw new IOException("a request did not fit into an empty socket");
            }
        }

        void receive() {
            try {
                if (channel.read(response) < 0) {
                    throw new IOException("the server closed the connection");
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
            if (isWhole()) {
                answered++;
                idle.add(this);
            }
        }

        private boolean isWhole() {
            int start = response.position() - BODY.length;
            for (int i = 0; i < BODY.length; i++) {
                if (start < 0 || response.get(start + i) != BODY[i]) {
                    return false;
                }
            }
            return true;
        }

        String text() throws IOException {
            String text = StandardCharsets.US_ASCII
                    .decode(response.duplicate().flip())
                    .toString();
            if (!text.startsWith(OK)) {
                throw new IOException("not " + OK + text);
            }
            return text;
        }
    }
}
