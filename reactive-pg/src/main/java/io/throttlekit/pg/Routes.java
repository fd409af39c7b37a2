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

    private final Map<Shape, String> statements = new ConcurrentHashMap<>();

    private boolean said;

    /**
     * How a program is run.
     *
     * @param function its function, quoted; null for the function path
     * @param ddl the statement that makes it
     * @param installed how often it was made
     */
    record Route(@Nullable String function, String ddl, int installed) {
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

    /**
     * A call of a function, by what is the same in many of them. That stands in the statement itself: whatever the
     * server has to read and pass on as a parameter takes its time, also a null.
     *
     * @param function quoted
     * @param kind of the state
     * @param operation of the program
     * @param clock whether the time is given
     * @param given how many of the numbers are given that the function takes one by one
     * @param list whether all numbers are given in an array, too
     */
    record Shape(String function, String kind, String operation, boolean clock, int given, boolean list) {
        private String statement() {
            StringBuilder text = new StringBuilder("SELECT ").append(function).append("($1, ");
            text.append(literal(kind)).append(clock ? ", $2, " : ", NULL, ").append(literal(operation));
            int parameter = clock ? 3 : 2;
            for (int i = 0; i < Ddl.SCALARS; i++) {
                text.append(i < given ? ", $" + parameter++ : ", NULL");
            }
            text.append(list ? ", $" + parameter++ : ", NULL");
            return text.append(", $").append(parameter).append(')').toString();
        }

        /** Whatever the server's settings say of backslashes. */
        static String literal(String text) {
            String quoted = "'" + text.replace("'", "''") + "'";
            return text.indexOf('\\') < 0 ? quoted : "E" + quoted.replace("\\", "\\\\");
        }
    }

    /** The statement of a call; its parameters are the key, what the shape says is given, and whether to hope. */
    String statement(Shape shape) {
        String known = statements.get(shape);
        return known != null ? known : statements.computeIfAbsent(shape, Shape::statement);
    }

    private static Route load(Program<?> program, Names names) {
        String step = program.text(Dialect.POSTGRES);
        if (step == null) {
            return Route.NONE;
        }
        TableName table = names.table();
        String function = table.quoted(Ddl.functionName(table, program.name(), step));
        return new Route(function, Ddl.function(table, program.name(), step), 0);
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
            sayOnce("createSchema is off and function " + missing.function + " does not exist", null);
            promise.complete(Route.NONE);
            return promise.future();
        }
        String statements = "SELECT pg_advisory_xact_lock(" + link.names.schemaLock() + "); " + missing.ddl;
        schema.unhurried(link.connection, statements).onComplete(made -> {
            if (made.succeeded()) {
                promise.complete(new Route(missing.function, missing.ddl, missing.installed + 1));
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
