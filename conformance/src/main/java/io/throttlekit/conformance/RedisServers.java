package io.throttlekit.conformance;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import redis.embedded.core.ExecutableProvider;

/**
 * Finds or starts Redis servers for tests.
 *
 * <p>{@link #any} takes, in this order, the address in the environment variable {@code THROTTLEKIT_REDIS}
 * ({@code redis://host:port}); a container, where a Docker engine answers; the binary of the embedded-redis
 * library, which needs to be on the class path then. {@link #own} always starts a process of its own from that
 * binary. The log says which it was. A server that cannot be had is an error and never a skipped test.
 */
public final class RedisServers {
    private static final Logger LOG = System.getLogger(RedisServers.class.getName());
    private static final String ENVIRONMENT = "THROTTLEKIT_REDIS";
    private static final String IMAGE = "redis:7.4-alpine";
    private static final int REDIS_PORT = 6379;
    /** A cluster's nodes talk to each other on a port that is higher by 10000. */
    private static final int HIGHEST_PORT = 55_000;

    private RedisServers() {}

    /**
     * A server to talk to, shared with whoever else knows it.
     *
     * @return a server that answers
     * @throws IllegalStateException if there is none
     */
    public static RedisServer any() {
        String given = System.getenv(ENVIRONMENT);
        if (given != null && !given.isBlank()) {
            RedisServer server = new RedisServer.Given(URI.create(given.strip()));
            LOG.log(Level.INFO, "Redis for tests: {0}, from {1}", server, ENVIRONMENT);
            server.command("PING");
            return server;
        }
        if (dockerAnswers()) {
            return Docker.start();
        }
        return own();
    }

    private static boolean dockerAnswers() {
        if (!mayHaveDocker()) {
            return false;
        }
        try {
            return Docker.answers();
        } catch (IllegalStateException | NoClassDefFoundError e) {
            return false;
        }
    }

    /** Whether there is a trace of an engine; looking for one in earnest takes seconds and is noisy. */
    private static boolean mayHaveDocker() {
        String home = System.getProperty("user.home", "/");
        String run = System.getenv().getOrDefault("XDG_RUNTIME_DIR", "/run");
        return System.getenv("DOCKER_HOST") != null
                || Stream.of(
                                Path.of("/var/run/docker.sock"),
                                Path.of(home, ".docker", "run", "docker.sock"),
                                Path.of(home, ".testcontainers.properties"),
                                Path.of(run, "docker.sock"))
                        .anyMatch(Files::exists);
    }

    /**
     * Starts a process that nobody else uses, which can be frozen, killed and started again.
     *
     * @param config further arguments of {@code redis-server}, such as {@code --maxmemory 1mb}, one word each
     * @return a server that answers
     * @throws IllegalStateException if it does not start
     */
    public static RedisServer own(String... config) {
        return own(freePort(), config);
    }

    static RedisServer own(int port, String... config) {
        Spawned server = new Spawned(port, List.of(config));
        server.restart();
        LOG.log(
                Level.INFO,
                "Redis for tests: {0}, process {1} of the embedded binary",
                server,
                String.valueOf(server.pid()));
        return server;
    }

    /** A port that is free, and whose cluster port is. */
    static int freePort() {
        for (int tries = 0; tries < 1_000; tries++) {
            int port = portOfTheSystemsChoice();
            if (port > HIGHEST_PORT) {
                port -= 20_000;
            }
            if (isFree(port) && isFree(port + 10_000)) {
                return port;
            }
        }
        throw new IllegalStateException("there is no free port");
    }

    private static int portOfTheSystemsChoice() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isFree(int port) {
        try (ServerSocket other = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return other.isBound();
        } catch (IOException e) {
            return false;
        }
    }

    /** What needs Testcontainers, which may be missing: its classes are loaded with this one. */
    private static final class Docker {
        static boolean answers() {
            return DockerClientFactory.instance().isDockerAvailable();
        }

        @SuppressWarnings("resource") // closed with the server that is returned
        static RedisServer start() {
            GenericContainer<?> container = new GenericContainer<>(IMAGE)
                    .withExposedPorts(REDIS_PORT)
                    .withCommand("redis-server", "--save", "", "--appendonly", "no")
                    .waitingFor(Wait.forLogMessage(".*Ready to accept connections.*\\n", 1));
            container.start();
            RedisServer server = new Container(container);
            LOG.log(Level.INFO, "Redis for tests: {0}, a container of {1}", server, IMAGE);
            return server;
        }

        private static final class Container extends RedisServer {
            private final GenericContainer<?> container;

            Container(GenericContainer<?> container) {
                super(container.getHost(), container.getMappedPort(REDIS_PORT));
                this.container = container;
            }

            @Override
            public void close() {
                container.stop();
            }
        }
    }

    /** The binary, unpacked once. */
    private static final class Binary {
        static final File FILE = unpack();

        private static File unpack() {
            try {
                return ExecutableProvider.newJarResourceProvider().get();
            } catch (IOException e) {
                throw new UncheckedIOException("the embedded Redis cannot be unpacked", e);
            }
        }
    }

    private static final class Spawned extends RedisServer {
        private static final String READY = "Ready to accept connections";

        private final List<String> command = new ArrayList<>();
        private Process process;

        @SuppressWarnings("NullAway") // the process is there once restart() was called, which own() does
        Spawned(int port, List<String> config) {
            super("127.0.0.1", port);
            try {
                File directory = Files.createTempDirectory("throttlekit-redis").toFile();
                directory.deleteOnExit();
                command.add(Binary.FILE.getAbsolutePath());
                command.addAll(List.of("--port", String.valueOf(port), "--bind", "127.0.0.1"));
                command.addAll(List.of("--save", "", "--appendonly", "no", "--dir", directory.getAbsolutePath()));
                command.addAll(config);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        long pid() {
            return process.pid();
        }

        @Override
        public void restart() {
            try {
                process = new ProcessBuilder(command).redirectErrorStream(true).start();
                Process started = process;
                Runtime.getRuntime().addShutdownHook(new Thread(started::destroyForcibly));
                BufferedReader log =
                        new BufferedReader(new InputStreamReader(started.getInputStream(), StandardCharsets.UTF_8));
                StringBuilder seen = new StringBuilder();
                for (String line = log.readLine(); ; line = log.readLine()) {
                    if (line == null) {
                        throw new IllegalStateException(this + " did not start:\n" + seen);
                    }
                    if (line.contains(READY)) {
                        break;
                    }
                    seen.append(line).append('\n');
                }
                Thread drain = new Thread(() -> drain(log), "log of " + this);
                drain.setDaemon(true);
                drain.start();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** A process whose log is not read stops when the pipe is full. */
        private static void drain(BufferedReader log) {
            try (log) {
                while (log.readLine() != null) {
                    Thread.onSpinWait();
                }
            } catch (IOException e) {
                LOG.log(Level.DEBUG, "the log ended", e);
            }
        }

        @Override
        public void kill() {
            process.destroyForcibly();
            try {
                if (!process.waitFor(10, TimeUnit.SECONDS)) {
                    throw new IllegalStateException(this + " cannot be killed");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted", e);
            }
        }

        @Override
        public void freeze() {
            signal("STOP");
        }

        @Override
        public void thaw() {
            signal("CONT");
        }

        private void signal(String name) {
            try {
                int status = new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid()))
                        .inheritIO()
                        .start()
                        .waitFor();
                if (status != 0) {
                    throw new IllegalStateException("kill -" + name + " ended with " + status);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted", e);
            }
        }

        @Override
        public void close() {
            kill();
        }
    }
}
