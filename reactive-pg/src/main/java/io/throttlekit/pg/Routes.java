package io.throttlekit.pg;

import io.throttlekit.Dialect;
import io.throttlekit.Program;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.util.Logger;
import reactor.util.Loggers;

/** Says for each program how it is called, and installs its function when the server does not know it. */
final class Routes {
    private static final Logger LOG = Loggers.getLogger(PgStore.class);

    private final Vertx vertx;
    private final Settings settings;
    private final Schema schema;
    /** Changed under this object's lock; read without it, since all lanes come here for every call. */
    private final Map<String, Future<Route>> routes = new ConcurrentHashMap<>();

    private boolean said;

    /**
     * How a program is run.
     *
     * @param call the statement that calls its function; null for the function path
     * @param function the statement that makes it
     * @param installed how often it was made
     */
    record Route(@Nullable String call, String function, int installed) {
        static final Route NONE = new Route(null, "", 0);
    }

    Routes(Vertx vertx, Settings settings, Schema schema) {
        this.vertx = vertx;
        this.settings = settings;
        this.schema = schema;
    }

    /** The route of a program; its text is read off the event loop, once. */
    Future<Route> of(Program<?> program, Names names) {
        Future<Route> known = routes.get(program.name());
        return known != null && !known.failed() ? known : loaded(program, names);
    }

    private synchronized Future<Route> loaded(Program<?> program, Names names) {
        Future<Route> known = routes.get(program.name());
        if (known != null && !known.failed()) {
            return known;
        }
        Future<Route> loading = vertx.executeBlocking(() -> load(program, names));
        routes.put(program.name(), loading);
        return loading;
    }

    private static Route load(Program<?> program, Names names) {
        String step = program.text(Dialect.POSTGRES);
        if (step == null) {
            return Route.NONE;
        }
        TableName table = names.table();
        String function = table.quoted(Ddl.functionName(table, program.name(), step));
        return new Route(
                "SELECT " + function + "($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
                Ddl.function(table, program.name(), step),
                0);
    }

    /**
     * Installs a function that the server did not find. Whoever comes with the same route meanwhile waits for the
     * same installation.
     */
    synchronized Future<Route> install(Program<?> program, Route missing, Link link) {
        Future<Route> known = Objects.requireNonNull(routes.get(program.name()), program::name);
        if (!known.succeeded() || !known.result().equals(missing)) {
            return known;
        }
        Promise<Route> promise = Promise.promise();
        routes.put(program.name(), promise.future());
        if (!settings.createSchema()) {
            sayOnce("createSchema is off and function " + missing.call + " does not exist", null);
            promise.complete(Route.NONE);
            return promise.future();
        }
        String statements = "SELECT pg_advisory_xact_lock(" + link.names.schemaLock() + "); " + missing.function;
        schema.unhurried(link.connection, statements).onComplete(made -> {
            if (made.succeeded()) {
                promise.complete(new Route(missing.call, missing.function, missing.installed + 1));
            } else if (Faults.forbidden(made.cause())) {
                sayOnce("this user may not create functions", made.cause());
                promise.complete(Route.NONE);
            } else {
                restore(program, missing);
                promise.fail(made.cause());
            }
        });
        return promise.future();
    }

    private synchronized void restore(Program<?> program, Route missing) {
        routes.put(program.name(), Future.succeededFuture(missing));
    }

    private synchronized void sayOnce(String why, @Nullable Throwable cause) {
        if (!said) {
            said = true;
            LOG.warn(
                    "ThrottleKit runs strategies on PostgreSQL as transactions, which is slower: {}{}. PgStore.Builder.ddl()"
                            + " has the statements for an administrator.",
                    why,
                    cause == null ? "" : " (" + cause.getMessage() + ")");
        }
    }
}
