package io.throttlekit.pg;

import io.throttlekit.conformance.PostgresServer;
import io.throttlekit.conformance.PostgresServers;

/** The server that all tests share which do it no harm. */
final class Postgres {
    static final PostgresServer SERVER = PostgresServers.any();

    private Postgres() {}
}
