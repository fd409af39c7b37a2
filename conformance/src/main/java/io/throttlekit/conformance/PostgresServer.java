package io.throttlekit.conformance;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A PostgreSQL server for tests, made by {@link PostgresServers}. Its methods block; they are for the thread of a
 * test. Only a process of our own can be stopped, started and frozen; others throw
 * {@link UnsupportedOperationException}.
 */
public abstract class PostgresServer implements AutoCloseable {
    private final String host;
    private final int port;
    private final String user;
    private final @Nullable String password;
    private final String database;

    /**
     * A server.
     *
     * @param host where it is
     * @param port where it listens
     * @param user who may create databases
     * @param password that user's password, if one is needed
     * @param database the one to connect to for a start
     */
    PostgresServer(String host, int port, String user, @Nullable String password, String database) {
        this.host = host;
        this.port = port;
        this.user = user;
        this.password = password;
        this.database = database;
    }

    /**
     * Where the server is.
     *
     * @return a host name or an address
     */
    public final String host() {
        return host;
    }

    /**
     * Where it listens.
     *
     * @return a port
     */
    public final int port() {
        return port;
    }

    /**
     * The address of a database, for clients.
     *
     * @param name the database
     * @return {@code postgresql://user[:password]@host:port/name}
     */
    public final String uri(String name) {
        return uri(name, user, password);
    }

    /**
     * The address of a database for another user, who needs no password.
     *
     * @param name the database
     * @param as the user
     * @return {@code postgresql://as@host:port/name}
     */
    public final String uri(String name, String as) {
        return uri(name, as, null);
    }

    private String uri(String name, String as, @Nullable String with) {
        return "postgresql://" + as + (with == null ? "" : ":" + with) + "@" + host + ":" + port + "/" + name;
    }

    /**
     * Makes an empty database with a name of its own.
     *
     * @param settings what its sessions begin with, such as {@code default_transaction_isolation = 'serializable'}
     * @return its name
     */
    public final String createDatabase(String... settings) {
        String name = "t" + UUID.randomUUID().toString().replace("-", "").substring(0, 12);
        execute(database, "CREATE DATABASE " + name);
        for (String setting : settings) {
            execute(database, "ALTER DATABASE " + name + " SET " + setting);
        }
        return name;
    }

    /**
     * Runs statements in a database, each for itself.
     *
     * @param name the database
     * @param statements SQL
     */
    public final void execute(String name, String... statements) {
        try (Connection connection = connect(name);
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    /**
     * The first column of a query's rows, as text.
     *
     * @param name the database
     * @param query SQL
     * @return the rows in order
     */
    public final List<String> query(String name, String query) {
        try (Connection connection = connect(name);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            List<String> values = new ArrayList<>();
            while (rows.next()) {
                values.add(String.valueOf(rows.getString(1)));
            }
            return values;
        } catch (SQLException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    /**
     * The single number that a query finds.
     *
     * @param name the database
     * @param query SQL
     * @return the number
     */
    public final long number(String name, String query) {
        return Long.parseLong(query(name, query).get(0));
    }

    /**
     * A connection of one's own, by JDBC.
     *
     * @param name the database
     * @return an open connection, to be closed
     * @throws SQLException if there is none to be had
     */
    public final Connection connect(String name) throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("user", user);
        properties.setProperty("ApplicationName", "throttlekit-test");
        properties.setProperty("connectTimeout", "10");
        if (password != null) {
            properties.setProperty("password", password);
        }
        return DriverManager.getConnection(
                String.format(Locale.ROOT, "jdbc:postgresql://%s:%d/%s", host, port, name), properties);
    }

    /** Stops the server as an administrator does: it ends every connection and then itself. */
    public void stop() {
        throw new UnsupportedOperationException("not our process: " + this);
    }

    /** Starts the server again, on the same port and with the same data. */
    public void start() {
        throw new UnsupportedOperationException("not our process: " + this);
    }

    /** Stops all its processes in their tracks: they keep their connections and answer nothing. */
    public void freeze() {
        throw new UnsupportedOperationException("not our process: " + this);
    }

    /** Lets its processes go on after {@link #freeze}. */
    public void thaw() {
        throw new UnsupportedOperationException("not our process: " + this);
    }

    /** Ends the server and deletes its data, where it was started for us. */
    @Override
    public abstract void close();

    @Override
    public String toString() {
        return host + ":" + port;
    }
}
