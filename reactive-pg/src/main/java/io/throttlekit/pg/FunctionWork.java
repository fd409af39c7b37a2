package io.throttlekit.pg;

import io.throttlekit.Clock;
import io.throttlekit.StateCodec;
import io.throttlekit.StateMismatchException;
import io.throttlekit.Step;
import io.throttlekit.Transform;
import io.vertx.core.buffer.Buffer;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs a transform in this process, inside a transaction: read, compute, write.
 *
 * <p>Two round trips. The first opens the transaction, takes the key's lock and, in a statement of its own whose
 * snapshot is younger than the lock, reads. The second writes, if there is something to write, and commits. Between
 * the two nobody else uses the connection, and contenders for the key in this process queue before it.
 */
final class FunctionWork<S, R> implements Call.Work<R> {
    private static final int MOST_TRIES = 20;

    private final Settings settings;
    private final Transform<S, R> transform;
    private int tries;

    FunctionWork(Settings settings, Transform<S, R> transform) {
        this.settings = settings;
        this.transform = transform;
    }

    @Override
    public void start(Call<R> call, Link link) {
        new Transaction(call, link).begin();
    }

    /** Opens a transaction and takes a key's lock, in one message. */
    static String lock(Names names, byte[] key) {
        return "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(" + names.lockOf(key) + ")";
    }

    private final class Transaction {
        private final Call<R> call;
        private final Link link;
        private final Buffer key;
        private @Nullable Throwable failure;

        Transaction(Call<R> call, Link link) {
            this.call = call;
            this.link = link;
            this.key = Buffer.buffer(call.key);
        }

        void begin() {
            link.hold(this);
            link.say(lock(link.names, call.key), locked -> {}, this::failed);
            link.query(link.names.read(), Tuple.of(key), this::compute, cause -> {
                failed(cause);
                rollBack();
                giveUp();
            });
        }

        /** Keeps the first failure; the others only follow from it. */
        private void failed(Throwable cause) {
            if (failure == null) {
                failure = cause;
            }
        }

        private void compute(RowSet<Row> rows) {
            if (call.done()) {
                rollBack();
                return;
            }
            try {
                step(rows.iterator().next());
            } catch (RuntimeException e) {
                rollBack();
                call.fail(e);
            }
        }

        private void step(Row row) {
            long serverMicros = row.getLong(0);
            Clock clock = settings.clock();
            long now = clock == null ? serverMicros : clock.epochMicros();
            S before = before(row, now);
            Step<S> step = transform.step(before, now);
            R answer = transform.read(step, now);
            S after = step.state();
            if (after == before) {
                end("COMMIT", done -> {});
                call.succeed(answer);
            } else if (after == null) {
                write(link.names.delete(), Tuple.of(key, kind()), answer, deleted -> {});
            } else {
                StateCodec<S> codec = transform.codec();
                long expires = codec.expiresAt(after);
                Long sweep = clock == null ? null : serverMicros + Ddl.HOUR_MICROS;
                Tuple values = Tuple.of(key, kind(), Buffer.buffer(codec.encode(after)), expires, sweep, now);
                write(link.names.write(), values, answer, this::written);
            }
        }

        private @Nullable S before(Row row, long now) {
            String kind = row.getString(1);
            if (kind == null || row.getLong(3) <= now) {
                return null;
            }
            Buffer code = row.getBuffer(2);
            if (code == null || !kind.equals(kind())) {
                throw new StateMismatchException("the key holds " + kind + ", not " + kind(), null);
            }
            return transform.codec().decode(code.getBytes());
        }

        private String kind() {
            return Ddl.functionKind(transform.codec().kind());
        }

        private void write(String sql, Tuple values, R answer, Consumer<RowSet<Row>> written) {
            call.sending();
            link.query(sql, values, written, this::failed);
            end("COMMIT", done -> {
                if (failure == null) {
                    call.succeed(answer);
                } else {
                    giveUp();
                }
            });
        }

        private void written(RowSet<Row> rows) {
            if (rows.rowCount() == 0) {
                failed(new StateMismatchException("the key got the state of a program, or of another kind", null));
            }
        }

        private void rollBack() {
            end("ROLLBACK", done -> {});
        }

        private void end(String statement, Consumer<RowSet<Row>> answered) {
            if (!link.gone()) {
                link.say(statement, answered, cause -> {
                    failed(cause);
                    giveUp();
                });
            }
            link.release();
        }

        /** Tells what went wrong, or tries again where the server asks for that. */
        private void giveUp() {
            Throwable cause = failure;
            if (cause == null || call.done()) {
                return;
            }
            if (Faults.worthAnotherTry(cause) && ++tries < MOST_TRIES) {
                call.againSoon(tries);
            } else {
                call.fail(Faults.of(cause, call.sent()));
            }
        }
    }
}
