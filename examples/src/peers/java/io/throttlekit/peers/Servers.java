package io.throttlekit.peers;

/**
 * Where the servers of this run listen.
 *
 * @param redis {@code redis://host:port}
 * @param postgres {@code postgresql://user@host:port/database}
 * @param jdbc the same for JDBC, user {@code postgres}
 */
public record Servers(String redis, String postgres, String jdbc) {}
