package io.throttlekit.pg;

import io.throttlekit.Program;
import io.throttlekit.Transform;
import io.throttlekit.pg.Routes.Route;
import io.throttlekit.pg.Routes.Shape;
import io.throttlekit.pg.Routes.Statement;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Runs a transform as a function of the server: one statement, which is its own transaction or shares one by {@link Turns}. */
final class ProgramWork<S, R> implements Call.Work<R> {
    /** The operation that is denied when it grants nothing. */
    private static final String CHECK = "check";

    private final Routes routes;
    private final Settings settings;
    private final Transform<S, R> transform;
    private final Program<R> program;
    private final @Nullable Long nowMicros;
    private List<Long> arguments;
    private boolean installed;
    private boolean repeated;
    private boolean alone;

    /**
     * Work with arguments for a time.
     *
     * @param nowMicros the injected clock's time, or null for the server's
     * @param clientMicros the time to compute arguments for
     */
    ProgramWork(
            Routes routes,
            Settings settings,
            Transform<S, R> transform,
            Program<R> program,
            @Nullable Long nowMicros,
            long clientMicros) {
        this.routes = routes;
        this.settings = settings;
        this.transform = transform;
        this.program = program;
        this.nowMicros = nowMicros;
        this.arguments = program.args(clientMicros);
    }

    @Override
    public void start(Call<R> call, Link link) {
        Future<Route> known = routes.of(program, link.names);
        if (!known.succeeded()) {
            call.after(known);
            return;
        }
        Route route = known.result();
        String function = route.function();
        if (function == null) {
            call.instead(new FunctionWork<>(settings, transform), link);
        } else {
            Statement usual = usual() ? route.usual() : null;
            link.turns.take(
                    usual == null
                            ? new Asked(call, link, route, routes.statement(shape(function)), tuple(call.key))
                            : new Asked(call, link, route, usual, tuple(call.key, program.usual())));
        }
    }

    /** With the server's clock, as the arguments were computed at first. */
    private boolean usual() {
        return nowMicros == null && !repeated && !program.usual().isEmpty();
    }

    private Shape shape(String function) {
        return new Shape(
                function,
                transform.codec().kind(),
                program.operation(),
                nowMicros != null,
                Math.min(Ddl.SCALARS, arguments.size()),
                arguments.size() > Ddl.SCALARS);
    }

    private Tuple tuple(byte[] key) {
        List<Long> scalars = arguments.subList(0, Math.min(Ddl.SCALARS, arguments.size()));
        if (nowMicros != null) {
            scalars = new ArrayList<>(scalars);
            scalars.add(0, nowMicros);
        }
        Tuple tuple = tuple(key, scalars);
        return arguments.size() > Ddl.SCALARS ? tuple.addValue(arguments.toArray(Long[]::new)) : tuple;
    }

    private static Tuple tuple(byte[] key, List<Long> numbers) {
        Tuple tuple = Tuple.tuple(new ArrayList<>(1 + numbers.size()));
        tuple.addValue(Buffer.buffer(key));
        numbers.forEach(tuple::addValue);
        return tuple;
    }

    private void answered(Call<R> call, Link link, Row row) {
        List<Long> reply = Arrays.asList(row.getArrayOfLongs(0));
        if (program.operation().equals(CHECK)) {
            link.denials.note(call.key, reply.get(0) == 0);
        }
        if (call.done()) {
            return;
        }
        try {
            R answer = program.read(reply);
            if (answer != null) {
                call.succeed(answer);
            } else if (repeated) {
                call.fail(new IllegalStateException("program " + program.name() + " asked to be called a third time"));
            } else {
                repeated = true;
                arguments = program.args(reply.get(1));
                call.again();
            }
        } catch (RuntimeException e) {
            call.fail(e);
        }
    }

    private void failed(Call<R> call, Link link, Route route, Throwable cause) {
        boolean unknown = Faults.UNDEFINED_FUNCTION.equals(Faults.sqlState(cause));
        if (unknown && !installed && !call.done()) {
            installed = true;
            call.after(routes.install(program, route, link));
        } else {
            call.fail(Faults.of(cause, call.sent()));
        }
    }

    private final class Asked implements Turns.Ask {
        private final Call<R> call;
        private final Link link;
        private final Route route;
        private final Statement statement;
        private final Tuple tuple;

        Asked(Call<R> call, Link link, Route route, Statement statement, Tuple tuple) {
            this.call = call;
            this.link = link;
            this.route = route;
            this.statement = statement;
            this.tuple = tuple;
        }

        @Override
        public Call<R> call() {
            return call;
        }

        @Override
        public Statement statement() {
            return statement;
        }

        @Override
        public boolean alone() {
            return alone;
        }

        @Override
        public Tuple tuple() {
            return tuple;
        }

        @Override
        public void answered(Row row) {
            ProgramWork.this.answered(call, link, row);
        }

        @Override
        public void againAlone() {
            alone = true;
            call.again();
        }

        @Override
        public void failed(Throwable cause) {
            ProgramWork.this.failed(call, link, route, cause);
        }
    }
}
