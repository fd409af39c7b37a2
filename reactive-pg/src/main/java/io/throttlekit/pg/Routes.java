package io.throttlekit.pg;

import io.throttlekit.Dialect;
import io.throttlekit.Program;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.util.Logger;
import reactor.util.Loggers;

/** Says for each program how it is called, and installs its function when the server does not know it. */
final class Routes {
    private static final Logger LOG = Loggers.getLogger(PgStore.class);

    private final Settings settings;
    private final Schema schema;
    /** Changed under this object's lock; read without it, since all lanes come here for every call. */
    private final Map<String, Future<Route>> routes = new ConcurrentHashMap<>();

    private final Map<Shape, Statement> statements = new ConcurrentHashMap<>();

    private boolean said;

    /**
     * How a program is run.
     *
     * @param function its function, quoted; null for the function path
     * @param usual its usual calls; null when it has no functions for them
     * @param ddl the statements that make its functions
     * @param installed how often they were made
     */
    record Route(@Nullable String function, @Nullable Statement usual, String ddl, int installed) {
        static final Route NONE = new Route(null, null, "", 0);
    }

    /**
     * What is sent for a call.
     *
     * @param allow the statement for a key that was not denied last
     * @param deny the one for a key that was, with the same parameters and the same answer
     */
    record Statement(String allow, String deny) {}

    Routes(Settings settings, Schema schema) {
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
        Future<Route> loading = OffLoop.call(() -> load(program, names));
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
        private Statement statement() {
            StringBuilder text = new StringBuilder("SELECT ").append(function).append("($1, ");
            text.append(literal(kind)).append(clock ? ", $2, " : ", NULL, ").append(literal(operation));
            int parameter = clock ? 3 : 2;
            for (int i = 0; i < Ddl.SCALARS; i++) {
                text.append(i < given ? ", $" + parameter++ : ", NULL");
            }
            text.append(list ? ", $" + parameter : ", NULL");
            String statement = text.append(')').toString();
            return new Statement(statement, statement);
        }

        /** Whatever the server's settings say of backslashes. */
        static String literal(String text) {
            String quoted = "'" + text.replace("'", "''") + "'";
            return text.indexOf('\\') < 0 ? quoted : "E" + quoted.replace("\\", "\\\\");
        }
    }

    /** What is sent for a call; its parameters are the key and what the shape says is given. */
    Statement statement(Shape shape) {
        Statement known = statements.get(shape);
        return known != null ? known : statements.computeIfAbsent(shape, Shape::statement);
    }

    private static Route load(Program<?> program, Names names) {
        String text = program.text(Dialect.POSTGRES);
        if (text == null) {
            return Route.NONE;
        }
        TableName table = names.table();
        String name = Ddl.functionName(table, program.name(), text);
        Statement usual = Ddl.hasUsual(text)
                ? new Statement(usual(table.quoted(name + Ddl.ALLOW)), usual(table.quoted(name + Ddl.DENY)))
                : null;
        return new Route(table.quoted(name), usual, Ddl.functions(table, program.name(), text), 0);
    }

    private static String usual(String function) {
        return "SELECT " + function + "($1, $2, $3, $4)";
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
                promise.complete(new Route(missing.function, missing.usual, missing.ddl, missing.installed + 1));
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
