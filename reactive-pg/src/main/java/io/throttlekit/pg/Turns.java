package io.throttlekit.pg;

import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;

/**
 * The calls of programs on one connection, by key. A key that many want at once is a row that only one transaction at a
 * time can change, and with {@code DURABLE} each of them ends with a wait for the disk. So what arrives for a key while
 * calls on it are out waits here, and then goes together: still one statement each, but one transaction and one such
 * wait for all.
 *
 * <p>Only calls on the same key go together. A transaction then holds one row, and so can neither be part of a deadlock
 * nor make one key wait for another. Everything happens on the loop of the lane.
 */
final class Turns {
    /** So many at most: the row is locked for other nodes meanwhile, and grows a version for each. */
    static final int TOGETHER = 32;

    /** So many transactions on a key are out, that the server has the next when it is done with one. */
    private static final int OUT = 2;

    private final Link link;
    private final int mostOut;
    private final Map<ByteBuffer, Turn> turns = new HashMap<>();
    private final Queue<Turn> ready = new ArrayDeque<>();

    /** Turns on a connection; without sharing every call goes at once, as its own transaction. */
    Turns(Link link, boolean share) {
        this.link = link;
        this.mostOut = share ? OUT : Integer.MAX_VALUE;
    }

    /** A call of a program that is to be sent. */
    interface Ask {
        Call<?> call();

        /** What is sent. Only calls of the same go together: a call that is wrong about the key's kind fails alone. */
        Routes.Statement statement();

        /** Whether it has to go alone, since it was in a transaction that failed. */
        boolean alone();

        Tuple tuple();

        void answered(Row row);

        /** What went together was rolled back, for the fault of one of them: each has to go again, alone. */
        void againAlone();

        void failed(Throwable cause);
    }

    /** Sends it, or keeps it until it is the turn of those who wait for its key. The connection has to be free. */
    void take(Ask ask) {
        Turn turn = turns.computeIfAbsent(ByteBuffer.wrap(ask.call().key), Turn::new);
        if (turn.out < mostOut && turn.waiting.isEmpty()) {
            turn.send(List.of(ask));
        } else {
            turn.waiting.put(ask.call(), ask);
            ask.call().waitsIn(turn);
        }
    }

    /** Sends those whose turn it is, on one key; false if there are none. The connection has to be free. */
    boolean sendNext() {
        for (Turn turn = ready.poll(); turn != null; turn = ready.poll()) {
            turn.queued = false;
            List<Ask> together = turn.next();
            if (!together.isEmpty()) {
                turn.send(together);
                return true;
            }
            turn.goIfIdle();
        }
        return false;
    }

    /** Gives up the calls that were not sent. */
    List<Call<?>> giveUp() {
        List<Call<?>> unsent = new ArrayList<>();
        for (Turn turn : turns.values()) {
            unsent.addAll(turn.waiting.keySet());
            turn.waiting.clear();
        }
        return unsent;
    }

    /** What is out on a key, and who waits. */
    final class Turn {
        private final ByteBuffer key;
        private final Map<Call<?>, Ask> waiting = new LinkedHashMap<>();
        private int out;
        private boolean queued;

        Turn(ByteBuffer key) {
            this.key = key;
        }

        void forget(Call<?> call) {
            waiting.remove(call);
        }

        private List<Ask> next() {
            List<Ask> together = new ArrayList<>();
            Iterator<Ask> asks = waiting.values().iterator();
            while (asks.hasNext() && together.size() < TOGETHER) {
                Ask ask = asks.next();
                if (!together.isEmpty() && !mayJoin(ask, together.get(0))) {
                    break;
                }
                asks.remove();
                if (!ask.call().done()) {
                    together.add(ask);
                }
            }
            return together;
        }

        private boolean mayJoin(Ask ask, Ask first) {
            return !ask.alone() && !first.alone() && ask.statement().equals(first.statement());
        }

        private void send(List<Ask> asks) {
            out++;
            Routes.Statement statement = asks.get(0).statement();
            List<Tuple> tuples = new ArrayList<>(asks.size());
            for (Ask ask : asks) {
                ask.call().sending();
                tuples.add(ask.tuple());
            }
            link.queryEach(
                    link.denials.has(asks.get(0).call().key) ? statement.deny() : statement.allow(),
                    tuples,
                    rows -> {
                        over();
                        answered(asks, rows);
                    },
                    cause -> {
                        over();
                        failed(asks, cause);
                    });
        }

        private void over() {
            out--;
            if (!waiting.isEmpty() && !queued) {
                queued = true;
                ready.add(this);
            }
            goIfIdle();
        }

        private void goIfIdle() {
            if (out == 0 && waiting.isEmpty() && !queued) {
                turns.remove(key);
            }
        }
    }

    private static void answered(List<Ask> asks, RowSet<Row> rows) {
        RowSet<Row> of = rows;
        for (Ask ask : asks) {
            ask.answered(of.iterator().next());
            of = of.next();
        }
    }

    private static void failed(List<Ask> asks, Throwable cause) {
        boolean again = asks.size() > 1 && Faults.rolledBack(cause);
        for (Ask ask : asks) {
            if (again && !ask.call().done()) {
                ask.againAlone();
            } else {
                ask.failed(cause);
            }
        }
    }
}
