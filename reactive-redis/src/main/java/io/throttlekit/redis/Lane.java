package io.throttlekit.redis;

import io.netty.util.concurrent.ScheduledFuture;
import io.vertx.core.Future;
import io.vertx.core.internal.ContextInternal;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.util.concurrent.Queues;

/**
 * One event loop's share of the keys: its pipelined connection, the calls on their way, and their deadlines.
 *
 * <p>Any thread hands a call in; the rest happens on the event loop. All calls of a store have the same
 * deadline, so they expire in the order in which they came, and one timer for the oldest serves all.
 *
 * <p>A signal may run code that calls again, at once and on this very stack. So every loop here takes a call out of
 * its queue before it signals, and expects the queue to be another one afterwards.
 *
 * <p>A connection that owes an answer for longer than a deadline gets no further commands: they wait here, and
 * expire here unsent, rather than pile up in a socket and be charged all at once when a frozen server thaws.
 * When it stays silent, it is given up for a new one.
 */
final class Lane implements Link.User {
    private static final long GIVE_UP_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long GIVE_UP_DEADLINES = 4;

    private final Core core;
    private final ContextInternal context;
    private final Link link;
    private final Transactions transactions;
    private final long giveUpNanos;

    private final Queue<Call<?>> inbox =
            Queues.<Call<?>>unboundedMultiproducer().get();
    private final AtomicInteger arrivals = new AtomicInteger();

    /** All calls that are held, the oldest first; some ahead of their end, none behind it. */
    private final ArrayDeque<Call<?>> tracked = new ArrayDeque<>();
    /** Commands that wait for a connection; some of them over already. */
    private final ArrayDeque<CommandCall<?>> pending = new ArrayDeque<>();

    private @Nullable ScheduledFuture<?> timer;
    private long timerNanos;
    private boolean closed;

    Lane(Core core, ContextInternal context, Connector connector, Connector transactional) {
        this.core = core;
        this.context = context;
        this.link = new Link(context, connector, this, true, core.deadlineNanos());
        this.transactions = new Transactions(core, this, context, transactional);
        this.giveUpNanos = Math.max(GIVE_UP_NANOS, GIVE_UP_DEADLINES * core.deadlineNanos());
    }

    /** Starts connecting. */
    void open() {
        context.emit(v -> link.want());
    }

    /** Takes a call, from any thread. */
    void submit(Call<?> call) {
        if (context.isRunningOnContext()) {
            arrive(call, call.startedNanos);
            watch(call.startedNanos);
            return;
        }
        inbox.add(call);
        if (arrivals.getAndIncrement() == 0) {
            try {
                context.emit(this, Lane::drain);
            } catch (RejectedExecutionException e) {
                // The event loop is gone, and with it everybody who would have looked into the inbox.
                arrivals.set(0);
                for (Call<?> lost = inbox.poll(); lost != null; lost = inbox.poll()) {
                    core.leave();
                    lost.signalError(Failures.closed(false));
                }
            }
        }
    }

    private void drain() {
        int seen = arrivals.get();
        do {
            long now = System.nanoTime();
            for (Call<?> call = inbox.poll(); call != null; call = inbox.poll()) {
                arrive(call, now);
            }
            seen = arrivals.addAndGet(-seen);
        } while (seen != 0);
        watch(System.nanoTime());
    }

    private void arrive(Call<?> call, long now) {
        tracked.add(call);
        if (closed) {
            release(call);
            call.signalError(Failures.closed(false));
        } else if (call.isOver()) {
            release(call);
        } else if (call instanceof FunctionCall<?, ?> function) {
            transactions.add(function);
        } else {
            dispatch((CommandCall<?>) call, now);
        }
    }

    private void dispatch(CommandCall<?> call, long now) {
        Wire wire = link.wire();
        if (wire == null) {
            pending.add(call);
            link.want();
        } else if (wire.silentNanos(now) > core.deadlineNanos()) {
            pending.add(call);
        } else {
            write(call, wire, now);
        }
    }

    private void write(CommandCall<?> call, Wire wire, long now) {
        if (call.deadlineNanos - now <= 0) {
            expire(call);
            return;
        }
        Request request;
        try {
            request = call.request();
        } catch (RuntimeException e) {
            release(call);
            call.signalError(e);
            return;
        }
        if (!call.send()) {
            release(call);
            return;
        }
        call.wire = wire;
        wire.sent(now);
        wire.connection.send(request).onComplete(call);
    }

    /** The connection answered, or will not. */
    void answered(CommandCall<?> call, @Nullable Response response, @Nullable Throwable failure) {
        Wire wire = call.wire;
        if (wire == null) {
            return;
        }
        long now = System.nanoTime();
        boolean wasSilent = wire.silentNanos(now) > core.deadlineNanos();
        Failures.Kind kind = failure == null ? null : Failures.of(failure);
        wire.answered(now, kind == null || kind.isReply());
        if (kind != null && failure != null) {
            failed(call, wire, kind, failure, now);
        } else if (call.isOver() || call.read(response)) {
            release(call);
        } else {
            resend(call, now);
        }
        if (wasSilent && wire == link.wire()) {
            flush(wire, now);
        }
    }

    private void failed(CommandCall<?> call, Wire wire, Failures.Kind kind, Throwable failure, long now) {
        switch (kind) {
            case NOT_SENT -> {
                link.broken(wire, "it is closed");
                if (call.unsend()) {
                    pending.add(call);
                    link.want();
                } else {
                    release(call);
                }
                return;
            }
            case NO_SCRIPT -> {
                if (call.sendScript()) {
                    resend(call, now);
                    return;
                }
            }
            case READ_ONLY -> {
                link.misled(wire, "the server became a replica");
                if (!call.redirected) {
                    call.redirected = true;
                    resend(call, now);
                    return;
                }
            }
            case UNKNOWN_FATE -> link.broken(wire, Failures.describe(failure));
            default -> {}
        }
        release(call);
        call.signalError(Failures.of(kind, failure));
    }

    /** After an answer that says that nothing was done. */
    private void resend(CommandCall<?> call, long now) {
        if (call.unsend()) {
            dispatch(call, now);
        } else {
            release(call);
        }
    }

    /** A reply was none: whatever comes next on this connection is not to be trusted. */
    void outOfStep(CommandCall<?> call, String found) {
        call.signalError(Failures.unexpected(found));
        if (call.wire != null) {
            link.broken(call.wire, "it is out of step");
        }
    }

    private void flush(Wire wire, long now) {
        for (int waiting = pending.size(); waiting > 0; waiting--) {
            CommandCall<?> call = pending.poll();
            if (call != null) {
                write(call, wire, now);
            }
        }
    }

    @Override
    public void opened() {
        Wire wire = link.wire();
        if (wire != null) {
            flush(wire, System.nanoTime());
        }
    }

    /** Who came before the attempt began has had its attempt; who came later gets another one. */
    @Override
    public boolean failed(long startedNanos, Throwable cause) {
        for (int waiting = pending.size(); waiting > 0; waiting--) {
            CommandCall<?> call = pending.poll();
            if (call == null) {
                break;
            }
            if (call.isOver()) {
                release(call);
            } else if (call.startedNanos - startedNanos <= 0) {
                release(call);
                call.signalError(Failures.disconnected(false, cause));
            } else {
                pending.add(call);
            }
        }
        return !pending.isEmpty();
    }

    void release(Call<?> call) {
        if (call.held) {
            call.held = false;
            core.leave();
        }
    }

    private void expire(Call<?> call) {
        release(call);
        call.signalError(Failures.timeout(call.isSent()));
    }

    /** Ends what is overdue, and sets the timer for what comes next. */
    private void watch(long now) {
        for (Call<?> call = tracked.peek();
                call != null && (!call.held || call.deadlineNanos - now <= 0);
                call = tracked.peek()) {
            tracked.remove();
            if (call.held) {
                expire(call);
            }
        }
        while (!pending.isEmpty() && pending.peek().isOver()) {
            pending.remove();
        }
        Wire wire = link.wire();
        long silent = wire == null ? 0 : wire.silentNanos(now);
        if (wire != null && silent > giveUpNanos) {
            link.broken(wire, "no answer for " + TimeUnit.NANOSECONDS.toMillis(silent) + " ms");
            silent = 0;
        }
        long next = Long.MAX_VALUE;
        Call<?> oldest = tracked.peek();
        if (oldest != null) {
            next = Math.max(0, oldest.deadlineNanos - now);
        }
        if (silent > 0) {
            next = Math.min(next, giveUpNanos - silent + 1);
        }
        if (next != Long.MAX_VALUE) {
            wake(now + next, next);
        }
    }

    private void wake(long atNanos, long inNanos) {
        if (timer != null) {
            if (timerNanos - atNanos <= 0) {
                return;
            }
            timer.cancel(false);
        }
        timerNanos = atNanos;
        timer = context.nettyEventLoop().schedule(() -> context.emit(this, Lane::timer), inNanos, TimeUnit.NANOSECONDS);
    }

    private void timer() {
        timer = null;
        watch(System.nanoTime());
    }

    /** Fails all calls and ends the connections. */
    Future<Void> close() {
        closed = true;
        for (Call<?> call = tracked.poll(); call != null; call = tracked.poll()) {
            boolean sent = call.isSent();
            release(call);
            call.signalError(Failures.closed(sent));
        }
        pending.clear();
        if (timer != null) {
            timer.cancel(false);
        }
        return Future.join(link.close(), transactions.close()).mapEmpty();
    }
}
