package io.throttlekit.redis;

import io.netty.util.concurrent.ScheduledFuture;
import io.throttlekit.StateMismatchException;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.vertx.core.Future;
import io.vertx.core.internal.ContextInternal;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Applies transforms that have no program: WATCH, GET, then MULTI, SET, EXEC, on connections of their own,
 * since a watch is a matter of the connection. On the lane's event loop alone.
 *
 * <p>Those who contend for one key in this process wait for each other rather than overtake each other: a
 * key has a queue, and one transaction takes all that is in it, steps one after the other and writes the last
 * state. So two hundred at once are a few transactions, and only other processes can come between. Who was
 * overtaken by one tries again after a moment that varies and grows, a bounded number of times.
 *
 * <p>A step or a read that throws counts as not applied; the others of its transaction go on from the state
 * before it.
 */
final class Transactions {
    private static final int CONNECTIONS = 2;
    /** A try that came to nothing is repeated after up to 2, 4, 8, … ms. */
    private static final int MAX_DOUBLINGS = 6;

    private static final long INJECTED_TTL_MILLIS = TimeUnit.HOURS.toMillis(1);

    private final Core core;
    private final Lane lane;
    private final ContextInternal context;
    private final boolean cluster;
    private final List<Worker> workers = new ArrayList<>();
    private final Map<ByteBuffer, KeyQueue> queues = new HashMap<>();
    /** Queues that wait for a worker, in order. */
    private final ArrayDeque<KeyQueue> ready = new ArrayDeque<>();

    private boolean closed;

    Transactions(Core core, Lane lane, ContextInternal context, Connector connector) {
        this.core = core;
        this.lane = lane;
        this.context = context;
        this.cluster = connector.isCluster();
        for (int i = 0; i < CONNECTIONS; i++) {
            workers.add(new Worker(connector));
        }
    }

    /** The calls for one key that were not taken yet. */
    private static final class KeyQueue {
        final ByteBuffer id;
        final byte[] key;
        final ArrayDeque<FunctionCall<?, ?>> waiting = new ArrayDeque<>();
        /** It has a worker, waits for one, or waits for a moment to pass. */
        boolean busy;

        KeyQueue(byte[] key) {
            this.key = key;
            this.id = ByteBuffer.wrap(key);
        }
    }

    void add(FunctionCall<?, ?> call) {
        KeyQueue queue = queues.computeIfAbsent(ByteBuffer.wrap(call.key), id -> new KeyQueue(call.key));
        queue.waiting.add(call);
        if (!queue.busy) {
            enqueue(queue);
        }
    }

    private void enqueue(KeyQueue queue) {
        queue.busy = true;
        ready.add(queue);
        assign();
    }

    /** Gives the queues that wait to the workers that are free. */
    private void assign() {
        for (Worker worker : workers) {
            Wire wire = worker.link.wire();
            while (worker.queue == null && wire != null && !ready.isEmpty()) {
                KeyQueue next = ready.remove();
                next.waiting.removeIf(this::dropIfOver);
                if (next.waiting.isEmpty()) {
                    finished(next);
                } else {
                    worker.start(wire, next);
                }
            }
            if (wire == null && !ready.isEmpty()) {
                worker.link.want();
            }
        }
    }

    /** A transaction is over; those who came in the meantime are next. */
    private void finished(KeyQueue queue) {
        queue.waiting.removeIf(this::dropIfOver);
        queue.busy = false;
        if (queue.waiting.isEmpty()) {
            queues.remove(queue.id);
        } else if (!closed) {
            enqueue(queue);
        }
    }

    private boolean dropIfOver(FunctionCall<?, ?> call) {
        if (call.isOver()) {
            lane.release(call);
            return true;
        }
        return false;
    }

    private void fail(FunctionCall<?, ?> call, Throwable error) {
        lane.release(call);
        call.signalError(error);
    }

    Future<Void> close() {
        closed = true;
        ready.clear();
        queues.clear();
        List<Future<Void>> ends = new ArrayList<>();
        for (Worker worker : workers) {
            ends.add(worker.link.close());
        }
        return Future.join(ends).mapEmpty();
    }

    /** One connection, and the transaction that it is busy with. */
    private final class Worker implements Link.User {
        private final Link link;
        private @Nullable KeyQueue queue;
        private List<FunctionCall<?, ?>> calls = List.of();
        /** The state that is to be written, and when it was computed. */
        private Value next = Value.NONE;

        private long nowMicros;

        Worker(Connector connector) {
            this.link = new Link(context, connector, this, false, core.deadlineNanos());
        }

        @Override
        public void opened() {
            assign();
        }

        /** As long as another worker is at work, those who wait are in good hands. */
        @Override
        public boolean failed(long startedNanos, Throwable cause) {
            boolean alone = workers.stream().allMatch(worker -> worker.link.wire() == null);
            for (int waiting = alone ? ready.size() : 0; waiting > 0; waiting--) {
                KeyQueue stuck = ready.poll();
                if (stuck != null) {
                    failOlder(stuck, startedNanos, cause);
                    finished(stuck);
                }
            }
            return !ready.isEmpty();
        }

        private void failOlder(KeyQueue stuck, long startedNanos, Throwable cause) {
            for (int calls = stuck.waiting.size(); calls > 0; calls--) {
                FunctionCall<?, ?> call = stuck.waiting.remove();
                if (call.startedNanos - startedNanos <= 0) {
                    fail(call, Failures.disconnected(false, cause));
                } else {
                    stuck.waiting.add(call);
                }
            }
        }

        void start(Wire wire, KeyQueue taken) {
            queue = taken;
            calls = new ArrayList<>(taken.waiting);
            taken.waiting.clear();
            ScheduledFuture<?> patience = patience(wire);
            Object key = taken.key;
            List<Future<Response>> replies = new ArrayList<>(List.of(
                    wire.connection.send(Request.cmd(Command.WATCH, key)),
                    wire.connection.send(Request.cmd(Command.GET, key))));
            if (core.clock() == null) {
                replies.add(wire.connection.send(Request.cmd(Command.TIME)));
            }
            Future.join(replies).onComplete((all, failure) -> {
                patience.cancel(false);
                if (failure != null) {
                    refused(wire, taken, failure, true);
                    return;
                }
                try {
                    watched(wire, taken, all.resultAt(1), core.clock() == null ? all.resultAt(2) : null);
                } catch (RuntimeException e) {
                    // No reply that can be read, or no clock.
                    link.broken(wire, "it is out of step");
                    failAll(e);
                    done();
                }
            });
        }

        /** A connection that does not answer is of no more use. */
        private ScheduledFuture<?> patience(Wire wire) {
            return context.nettyEventLoop()
                    .schedule(
                            () -> context.emit(v -> link.broken(wire, "no answer to a transaction")),
                            core.deadlineNanos(),
                            TimeUnit.NANOSECONDS);
        }

        private void watched(Wire wire, KeyQueue taken, @Nullable Response stored, @Nullable Response time) {
            nowMicros = now(time);
            Value before;
            try {
                before = Value.parse(stored == null ? null : stored.toBytes());
            } catch (StateMismatchException e) {
                failAll(e);
                unwatch(wire);
                return;
            }
            Value after = before;
            List<FunctionCall<?, ?>> applied = new ArrayList<>(calls.size());
            for (FunctionCall<?, ?> call : calls) {
                if (dropIfOver(call)) {
                    continue;
                }
                try {
                    after = call.apply(after, nowMicros);
                    applied.add(call);
                } catch (RuntimeException | Error e) {
                    fail(call, e);
                }
            }
            calls = applied;
            next = after;
            if (after == before) {
                answer();
                unwatch(wire);
            } else {
                commit(wire, taken);
            }
        }

        private long now(@Nullable Response time) {
            if (time == null) {
                return core.clock() == null ? 0 : core.clock().epochMicros();
            }
            return time.get(0).toLong() * 1_000_000 + time.get(1).toLong();
        }

        private void answer() {
            calls.forEach(call -> {
                lane.release(call);
                call.answer();
            });
            calls = List.of();
        }

        /** A cluster's client stays bound to the node of the watched key until a transaction ends. */
        private void unwatch(Wire wire) {
            Future<?> last;
            if (cluster) {
                last = Future.join(
                        wire.connection.send(Request.cmd(Command.MULTI)),
                        wire.connection.send(Request.cmd(Command.DISCARD)));
            } else {
                last = wire.connection.send(Request.cmd(Command.UNWATCH));
            }
            last.onComplete((reply, failure) -> {
                if (failure != null) {
                    link.broken(wire, Failures.describe(failure));
                }
                done();
            });
        }

        private void commit(Wire wire, KeyQueue taken) {
            calls.removeIf(call -> !call.send() && dropIfOver(call));
            byte[] value = next.bytes();
            Object key = taken.key;
            Request write;
            if (value == null) {
                write = Request.cmd(Command.DEL, key);
            } else {
                long ttl = next.ttlMillis(nowMicros);
                write = Request.cmd(
                        Command.SET, key, value, "PX", core.clock() == null ? ttl : Math.max(ttl, INJECTED_TTL_MILLIS));
            }
            ScheduledFuture<?> patience = patience(wire);
            wire.connection.send(Request.cmd(Command.MULTI));
            Future<Response> written = wire.connection.send(write);
            wire.connection.send(Request.cmd(Command.EXEC)).onComplete((reply, failure) -> {
                patience.cancel(false);
                if (failure != null) {
                    boolean aborted = written.failed()
                            && String.valueOf(failure.getMessage()).startsWith("EXECABORT");
                    refused(wire, taken, aborted ? written.cause() : failure, aborted);
                } else if (reply == null) {
                    again(taken, this::contended);
                } else {
                    answer();
                    done();
                }
            });
        }

        /**
         * Redis or the connection refused.
         *
         * @param untouched whether it is certain that nothing was written
         */
        private void refused(Wire wire, KeyQueue taken, Throwable failure, boolean untouched) {
            Failures.Kind kind = Failures.of(failure);
            boolean broken = switch (kind) {
                case NOT_SENT, UNKNOWN_FATE, READ_ONLY -> true;
                default -> false;
            };
            if (broken) {
                link.broken(wire, Failures.describe(failure));
            }
            if (broken && (untouched || kind == Failures.Kind.NOT_SENT)) {
                again(
                        taken,
                        () -> kind == Failures.Kind.READ_ONLY
                                ? Failures.of(kind, failure)
                                : Failures.disconnected(false, failure));
                return;
            }
            failAll(Failures.of(kind, failure));
            if (broken) {
                done();
            } else {
                // Some of WATCH, GET and TIME may have gone through: the next transaction starts clean.
                unwatch(wire);
            }
        }

        private void failAll(Throwable error) {
            calls.forEach(call -> fail(call, error));
            calls = List.of();
        }

        /** Nothing was done, and those who have tries left try again after a moment. */
        private void again(KeyQueue taken, Supplier<? extends Throwable> error) {
            int most = 0;
            for (FunctionCall<?, ?> call : calls) {
                call.tries++;
                most = Math.max(most, call.tries);
                if (call.isSent() && !call.unsend()) {
                    lane.release(call);
                } else if (call.tries > core.maxRetries()) {
                    fail(call, error.get());
                } else {
                    taken.waiting.add(call);
                }
            }
            calls = List.of();
            queue = null;
            long wait = 1 + ThreadLocalRandom.current().nextLong(1L << Math.min(most, MAX_DOUBLINGS));
            context.setTimer(wait, id -> finished(taken));
            assign();
        }

        private StoreUnavailableException contended() {
            String message = "other clients changed the key first, " + (core.maxRetries() + 1) + " times in a row";
            return new StoreUnavailableException(Reason.OVERLOADED, false, message, null);
        }

        private void done() {
            KeyQueue taken = queue;
            queue = null;
            if (taken != null) {
                finished(taken);
            }
            assign();
        }
    }
}
