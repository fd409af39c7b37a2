package io.throttlekit.pg;

import io.throttlekit.ThrottleKitException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.SqlConnection;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One shard of the keys: a connection, the event loop it lives on, and the calls that need it.
 *
 * <p>Calls wait here until the connection takes them, for their deadline at longest. Apart from
 * {@link #submit}, {@link #run} and {@link #close}, everything is to be called on the loop.
 */
final class Lane {
    /*
     * At most WINDOW transactions are out at once; the rest wait here or for their key's turn, where an expired or cancelled call is never sent
     * and so certainly has not charged. Without that bound a server that hangs would be sent every call there is.
     *
     * A connection that is silent although statements are out is given up for dead after some time: the server gives
     * up a statement after the deadline (statement_timeout), so a healthy one is heard of sooner, whatever it waits for.
     *
     * Without a connection, one is made at once, then with growing pauses. A call that can still live to see the
     * next try waits for it; any other fails at once.
     */
    static final int WINDOW = 64;

    private static final long CONNECT_MILLIS = 10_000;
    /** A server that hangs does not hold up closing for longer. */
    private static final long CLOSE_MILLIS = 2_000;

    private static final long FIRST_PAUSE_MILLIS = 25;
    private static final long LONGEST_PAUSE_MILLIS = 2_000;

    private final Vertx vertx;
    private final Context loop;
    private final Source source;
    private final Settings settings;
    private final Schema schema;
    private final Runnable ready;
    private final long silenceNanos;

    private final Queue<Call<?>> inbox = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean woken = new AtomicBoolean();

    /** All calls that are not over, oldest first. */
    private final Set<Call<?>> calls = new LinkedHashSet<>();
    /** Those of them that wait to be started. */
    private final Set<Call<?>> waiting = new LinkedHashSet<>();

    private @Nullable Link link;
    private @Nullable Attempt attempt;
    private int failures;
    private long nextTryNanos;
    private @Nullable ThrottleKitException lastFailure;
    private boolean pausing;
    private boolean ticking;
    private @Nullable Promise<Void> closing;
    /** Connections that are being opened or given up. */
    private int toEnd;

    Lane(Vertx vertx, Context loop, Source source, Settings settings, Schema schema, Runnable ready) {
        this.vertx = vertx;
        this.loop = loop;
        this.source = source;
        this.settings = settings;
        this.schema = schema;
        this.ready = ready;
        this.silenceNanos = 2 * settings.deadlineNanos() + TimeUnit.MILLISECONDS.toNanos(500);
    }

    /** Takes a call, from any thread. */
    void submit(Call<?> call) {
        inbox.add(call);
        if (!woken.get() && woken.compareAndSet(false, true)) {
            try {
                loop.runOnContext(nothing -> takeInbox());
            } catch (RejectedExecutionException e) {
                // The user closed the Vertx under us.
                woken.set(false);
                inbox.remove(call);
                call.fail(Faults.disconnected(false, e));
            }
        }
    }

    void submitSoon(Call<?> call, long millis) {
        vertx.setTimer(millis, over -> submit(call));
    }

    /** Runs something on the loop, from any thread. */
    void run(Runnable task) {
        loop.runOnContext(nothing -> task.run());
    }

    private void takeInbox() {
        woken.set(false);
        for (Call<?> call = inbox.poll(); call != null; call = inbox.poll()) {
            if (closing != null) {
                call.fail(Faults.closed(false));
            } else if (!call.done()) {
                calls.add(call);
                waiting.add(call);
            }
        }
        if (!ticking && !calls.isEmpty()) {
            tick();
        }
        pump();
    }

    /** Starts what can be started. */
    void pump() {
        while (true) {
            Link on = link;
            if (on == null) {
                if (!waiting.isEmpty()) {
                    reconnect();
                }
                return;
            }
            // In turns, so that neither the keys that many want nor the others wait for the end of the rest.
            boolean sent = on.free() && on.turns.sendNext();
            boolean started = on.free() && startNext(on);
            if (!sent && !started) {
                return;
            }
        }
    }

    private boolean startNext(Link on) {
        Iterator<Call<?>> first = waiting.iterator();
        if (!first.hasNext()) {
            return false;
        }
        Call<?> call = first.next();
        first.remove();
        if (!call.done()) {
            start(call, on);
        }
        return true;
    }

    private static void start(Call<?> call, Link on) {
        try {
            call.start(on);
        } catch (RuntimeException e) {
            call.fail(e);
        }
    }

    void forget(Call<?> call) {
        calls.remove(call);
        waiting.remove(call);
        call.leaveTurn();
    }

    void forgetSoon(Call<?> call) {
        try {
            run(() -> forget(call));
        } catch (RejectedExecutionException e) {
            // Nobody is left to remember it.
            inbox.remove(call);
        }
    }

    /** Ends calls whose time is up, and comes back for the next. */
    private void tick() {
        long now = System.nanoTime();
        while (!calls.isEmpty()) {
            Call<?> oldest = calls.iterator().next();
            long left = oldest.deadlineNanos - now;
            if (left > 0) {
                ticking = true;
                vertx.setTimer(TimeUnit.NANOSECONDS.toMillis(left) + 1, timer -> tick());
                return;
            }
            oldest.fail(Faults.timeout(oldest.sent()));
            Link on = link;
            if (on != null && on.silentFor(silenceNanos)) {
                lost(on, null);
            }
        }
        ticking = false;
    }

    /** Runs a try to connect, so that what comes too late can be told from what is wanted. */
    private final class Attempt {
        private @Nullable SqlConnection connection;
        private @Nullable Link made;
        private final long timer = vertx.setTimer(
                CONNECT_MILLIS,
                late -> failed(Faults.disconnected(
                        false, new IllegalStateException("connecting took " + CONNECT_MILLIS + " ms"))));

        void start() {
            toEnd++;
            source.open().onComplete(opened -> {
                toEnd--;
                if (!current()) {
                    if (opened.succeeded()) {
                        giveUp(opened.result());
                    }
                    closeWhenDone();
                } else if (opened.succeeded()) {
                    prepare(opened.result());
                } else {
                    failed(Faults.disconnected(false, opened.cause()));
                }
            });
        }

        private boolean current() {
            return attempt == this;
        }

        private void prepare(SqlConnection opened) {
            connection = opened;
            // Else the client prints them.
            opened.exceptionHandler(error -> {});
            opened.closeHandler(closed -> closed());
            opened.query(settings.session())
                    .execute()
                    .compose(set -> schema.ready(opened))
                    .onComplete(prepared -> run(() -> {
                        if (!current()) {
                            return;
                        }
                        if (prepared.succeeded()) {
                            succeeded(opened, prepared.result());
                        } else {
                            failed(Faults.of(prepared.cause(), false));
                        }
                    }));
        }

        private void succeeded(SqlConnection opened, Names names) {
            end();
            failures = 0;
            lastFailure = null;
            made = new Link(Lane.this, opened, names, settings.shareCommits());
            link = made;
            ready.run();
            pump();
        }

        private void closed() {
            if (made != null) {
                lost(made, null);
            } else {
                failed(Faults.disconnected(false, null));
            }
        }

        private void failed(ThrottleKitException why) {
            if (!current()) {
                return;
            }
            end();
            if (connection != null) {
                giveUp(connection);
            }
            lastFailure = why;
            pause(Math.min(LONGEST_PAUSE_MILLIS, FIRST_PAUSE_MILLIS << Math.min(failures, 10)));
            failures++;
            failAll(waiting, why);
        }

        void end() {
            vertx.cancelTimer(timer);
            attempt = null;
        }
    }

    private void pause(long mostMillis) {
        long millis = 1 + mostMillis / 2 + ThreadLocalRandom.current().nextLong(mostMillis / 2 + 1);
        nextTryNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        pausing = true;
        vertx.setTimer(millis, over -> {
            pausing = false;
            reconnect();
        });
    }

    private void reconnect() {
        if (link != null || attempt != null || closing != null) {
            return;
        }
        if (pausing) {
            ThrottleKitException why = lastFailure;
            List<Call<?>> hopeless = waiting.stream()
                    .filter(call -> call.deadlineNanos - nextTryNanos < 0)
                    .toList();
            failAll(hopeless, why == null ? Faults.disconnected(false, null) : why);
            return;
        }
        Attempt next = new Attempt();
        attempt = next;
        next.start();
    }

    /** Ends calls that were not sent. */
    private static void failAll(Iterable<Call<?>> unsent, ThrottleKitException why) {
        for (Call<?> call : copy(unsent)) {
            call.fail(why);
        }
    }

    private static List<Call<?>> copy(Iterable<Call<?>> some) {
        List<Call<?>> copy = new ArrayList<>();
        some.forEach(copy::add);
        return copy;
    }

    /** Ends the calls on a connection that is no more, and makes another. */
    void lost(Link gone, @Nullable Throwable cause) {
        if (!gone.end()) {
            return;
        }
        giveUp(gone.connection);
        gone.turns.giveUp().forEach(Call::again);
        for (Call<?> call : copy(calls)) {
            if (call.isOn(gone)) {
                call.fail(Faults.disconnected(call.sent(), cause));
            }
        }
        if (link == gone) {
            link = null;
            reconnect();
        }
    }

    /** Puts a connection out of service that still works; another one takes its place. */
    void retire(Link old) {
        if (link == old) {
            link = null;
            schema.forget();
            old.turns.giveUp().forEach(Call::again);
            old.retire();
            reconnect();
        }
    }

    void giveUp(SqlConnection connection) {
        toEnd++;
        source.giveUp(connection)
                .onComplete(given -> run(() -> {
                    toEnd--;
                    closeWhenDone();
                }));
    }

    /** Fails every call and ends the connection, from any thread. */
    Future<Void> close() {
        Promise<Void> promise = Promise.promise();
        try {
            run(() -> {
                closing = promise;
                takeInbox();
                for (Call<?> call : copy(calls)) {
                    call.fail(Faults.closed(call.sent()));
                }
                Attempt trying = attempt;
                if (trying != null) {
                    trying.end();
                    if (trying.connection != null) {
                        giveUp(trying.connection);
                    }
                }
                Link last = link;
                link = null;
                if (last != null && last.end()) {
                    giveUp(last.connection);
                }
                vertx.setTimer(CLOSE_MILLIS, late -> promise.tryComplete());
                closeWhenDone();
            });
        } catch (RejectedExecutionException e) {
            promise.tryComplete();
        }
        return promise.future();
    }

    private void closeWhenDone() {
        Promise<Void> promise = closing;
        if (promise != null && toEnd == 0) {
            promise.tryComplete();
        }
    }
}
