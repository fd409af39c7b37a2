package io.throttlekit.conformance;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A Redis server that tests use, and a blocking connection to talk to it behind a store's back.
 *
 * <p>A server of its own process can also be frozen, killed and started again on the same port; one that
 * {@link RedisServers} only was given an address of cannot, and says so. Blocking: for test threads.
 */
public abstract class RedisServer implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final String host;
    private final int port;

    RedisServer(String host, int port) {
        this.host = host;
        this.port = port;
    }

    /**
     * Where it listens.
     *
     * @return a host name or address
     */
    public final String host() {
        return host;
    }

    /**
     * Where it listens.
     *
     * @return the TCP port
     */
    public final int port() {
        return port;
    }

    /**
     * Where it listens.
     *
     * @return {@code redis://host:port}
     */
    public final String uri() {
        return "redis://" + host + ":" + port;
    }

    /** Kills the process without giving it a chance to do anything, and awaits its end. */
    public void kill() {
        throw new UnsupportedOperationException(this + " cannot be killed");
    }

    /** Starts it again after {@link #kill}, empty, on the same port, and awaits that it answers. */
    public void restart() {
        throw new UnsupportedOperationException(this + " cannot be started again");
    }

    /** Stops the process where it is: it keeps its sockets and does nothing. */
    public void freeze() {
        throw new UnsupportedOperationException(this + " cannot be frozen");
    }

    /** Lets a frozen process go on. */
    public void thaw() {
        throw new UnsupportedOperationException(this + " cannot be frozen");
    }

    /** Ends the server if it was started here. */
    @Override
    public abstract void close();

    /**
     * Sends one command on a connection of its own and awaits the reply.
     *
     * @param words the command
     * @return the reply: a {@code String} for a string or status, a {@code Long}, a {@code List} of replies, or
     *     null
     * @throws IllegalStateException if the reply is an error or there is none within 10 seconds
     */
    public final @Nullable Object command(String... words) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(host, port), (int) TIMEOUT.toMillis());
            socket.setSoTimeout((int) TIMEOUT.toMillis());
            StringBuilder request = new StringBuilder("*" + words.length + "\r\n");
            for (String word : words) {
                int length = word.getBytes(StandardCharsets.UTF_8).length;
                request.append('$').append(length).append("\r\n").append(word).append("\r\n");
            }
            socket.getOutputStream().write(request.toString().getBytes(StandardCharsets.UTF_8));
            return new Replies(new BufferedInputStream(socket.getInputStream())).next();
        } catch (IOException e) {
            throw new IllegalStateException(words[0] + " to " + this + " failed", e);
        }
    }

    @Override
    public String toString() {
        return "redis at " + host + ":" + port;
    }

    /** A server that runs somewhere already. */
    static final class Given extends RedisServer {
        Given(URI address) {
            super(address.getHost(), address.getPort() < 0 ? 6379 : address.getPort());
        }

        @Override
        public void close() {}
    }

    /** Reads the replies of one connection. */
    private static final class Replies {
        private final InputStream in;

        Replies(InputStream in) {
            this.in = in;
        }

        @Nullable
        Object next() throws IOException {
            String line = line();
            String rest = line.substring(1);
            return switch (line.charAt(0)) {
                case '+' -> rest;
                case ':' -> Long.valueOf(rest);
                case '$' -> bulk(Integer.parseInt(rest));
                case '*' -> list(Integer.parseInt(rest));
                case '-' -> throw new IllegalStateException(rest);
                default -> throw new IllegalStateException("no reply: " + line);
            };
        }

        private @Nullable Object bulk(int length) throws IOException {
            if (length < 0) {
                return null;
            }
            byte[] text = in.readNBytes(length);
            in.skipNBytes(2);
            return new String(text, StandardCharsets.UTF_8);
        }

        private @Nullable Object list(int length) throws IOException {
            if (length < 0) {
                return null;
            }
            List<@Nullable Object> replies = new ArrayList<>();
            for (int i = 0; i < length; i++) {
                replies.add(next());
            }
            return replies;
        }

        private String line() throws IOException {
            StringBuilder line = new StringBuilder();
            for (int c = in.read(); c != '\n'; c = in.read()) {
                if (c < 0) {
                    throw new IOException("the connection ended");
                }
                if (c != '\r') {
                    line.append((char) c);
                }
            }
            if (line.isEmpty()) {
                throw new IOException("an empty line");
            }
            return line.toString();
        }
    }
}
