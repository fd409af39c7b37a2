package io.throttlekit.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Tries every order of events on several nodes that lease from one second tier, breadth first, and keeps the
 * most that is ever admitted in one window.
 *
 * <p>Time is counted in ticks, a window is a few of them. Three windows are played: in the first, credits are
 * gathered; the second is the one whose admissions are counted; in the third only what was sent before can
 * still arrive. A node may be asked for units at any time, and a waiter may leave; a request may be decided
 * and its reply delivered at any later time, or lost on either way; a node may crash, or give back what it
 * holds. Calm worlds, of more nodes, leave the troubles and the third window out.
 */
class LedgerModelTest {
    private static final int COUNTED = 1;

    private record World(int nodes, long limit, int ticks, Ledger.Rules rules, List<Integer> costs, boolean trouble) {
        World(int nodes, long limit, int ticks, long batch, long lowWater, boolean coupled, int line, int... costs) {
            this(nodes, limit, ticks, new Ledger.Rules(limit, batch, lowWater, coupled, line), costsOf(costs), true);
        }

        private static List<Integer> costsOf(int... costs) {
            return Arrays.stream(costs).boxed().toList();
        }

        World calm() {
            return new World(nodes, limit, ticks, rules, costs, false);
        }

        long carried() {
            return nodes * rules.most();
        }
    }

    /** A request or its reply on the way. */
    private record Message(long min, long max, int sentAt, boolean decided, long granted, int window, int endsAt) {}

    private static final class Node {
        Ledger<Integer> ledger;

        @Nullable
        Message message;

        int lastWaiter;

        Node(Ledger<Integer> ledger, @Nullable Message message, int lastWaiter) {
            this.ledger = ledger;
            this.message = message;
            this.lastWaiter = lastWaiter;
        }

        Node copy() {
            return new Node(ledger.copy(), message, lastWaiter);
        }

        String signature(int tick) {
            StringBuilder text = new StringBuilder();
            ledger.describe(tick, number -> put(text, number));
            put(text, -1);
            Message m = message;
            if (m != null && m.decided) {
                put(text, m.granted);
                put(text, m.window);
                put(text, Math.max(0, m.endsAt - tick));
            } else if (m != null) {
                put(text, m.min);
                put(text, m.max);
                put(text, tick - m.sentAt);
            }
            return text.toString();
        }
    }

    /** Numbers are small here: one character each. */
    private static void put(StringBuilder text, long number) {
        text.append((char) (number + 10));
    }

    /** Everything there is at one time. */
    private static final class Moment {
        final World world;
        int tick;
        /** Units out of the second tier's present window. */
        long used;
        /** Units admitted in the window that is counted. */
        long admitted;

        final List<Node> nodes = new ArrayList<>();

        Moment(World world) {
            this.world = world;
        }

        Moment copy() {
            Moment copy = new Moment(world);
            copy.tick = tick;
            copy.used = used;
            copy.admitted = admitted;
            nodes.forEach(node -> copy.nodes.add(node.copy()));
            return copy;
        }

        int window() {
            return tick / world.ticks;
        }

        /** Nodes are alike: which of them is in which state does not matter. */
        String signature() {
            StringBuilder text = new StringBuilder();
            put(text, tick);
            put(text, used);
            put(text, admitted);
            nodes.stream().map(node -> node.signature(tick)).sorted().forEach(part -> {
                put(text, -2);
                text.append(part);
            });
            return text.toString();
        }

        private void admit(long units, int window) {
            if (window == COUNTED) {
                admitted += units;
            }
        }

        private Ledger.Outcomes<Integer> outcomes(int decidedIn) {
            return new Ledger.Outcomes<>() {
                @Override
                public void served(Integer waiter, long granted, long left, boolean asked) {
                    admit(granted, asked ? decidedIn : window());
                }

                @Override
                public void denied(Integer waiter) {}

                @Override
                public void failed(Integer waiter) {}
            };
        }

        private void send(Node node, Ledger.@Nullable Request request) {
            if (request != null) {
                node.message = new Message(request.min(), request.max(), tick, false, 0, 0, 0);
            }
        }

        /** What the limiter does after everything that happens. */
        private void settle(Node node) {
            long surplus = node.ledger.takeSurplus();
            used -= Math.min(used, surplus);
            send(node, node.ledger.lease(tick));
        }

        void arrive(Node node, int cost) {
            if (node.ledger.take(cost, cost, tick) > 0) {
                admit(cost, window());
                send(node, node.ledger.refill(tick));
            } else {
                node.ledger.enqueue(++node.lastWaiter, cost, cost);
            }
            settle(node);
        }

        void decide(Node node) {
            Message m = sent(node);
            long granted = Ledger.grant(world.limit - used, m.min, m.max);
            used += granted;
            int endsAt = m.sentAt + (window() + 1) * world.ticks - tick;
            node.message = new Message(m.min, m.max, m.sentAt, true, granted, window(), endsAt);
        }

        void deliver(Node node) {
            Message m = sent(node);
            node.message = null;
            if (m.granted > 0) {
                int resetAt = (m.window + 1) * world.ticks;
                node.ledger.granted(m.granted, resetAt, m.endsAt, tick, outcomes(m.window));
            } else {
                node.ledger.denied(tick, outcomes(m.window));
            }
            settle(node);
        }

        void lose(Node node) {
            node.message = null;
            node.ledger.failed(tick, outcomes(-1));
            settle(node);
        }

        void cancel(Node node) {
            node.ledger.cancel(node.lastWaiter, tick, outcomes(-1));
            settle(node);
        }

        void cancelFirst(Node node) {
            Integer first = node.ledger.first();
            if (first != null) {
                node.ledger.cancel(first, tick, outcomes(-1));
            }
            settle(node);
        }

        void crash(Node node) {
            node.ledger = new Ledger<>(world.rules);
            node.message = null;
        }

        void giveBack(Node node) {
            used -= Math.min(used, node.ledger.empty(tick));
        }

        private static Message sent(Node node) {
            if (node.message == null) {
                throw new IllegalStateException("nothing was sent");
            }
            return node.message;
        }
    }

    private record Finding(long most, int states) {}

    private static Finding explore(World world) {
        Moment start = new Moment(world);
        for (int i = 0; i < world.nodes; i++) {
            start.nodes.add(new Node(new Ledger<>(world.rules), null, 0));
        }
        Set<String> seen = new HashSet<>();
        Deque<Moment> open = new ArrayDeque<>();
        seen.add(start.signature());
        open.add(start);
        long most = 0;
        while (!open.isEmpty()) {
            Moment moment = open.remove();
            most = Math.max(most, moment.admitted);
            for (Moment next : successors(moment)) {
                if (seen.add(next.signature())) {
                    open.add(next);
                }
            }
        }
        System.out.printf(
                "ledger: %d nodes, limit %d, %s: at most %d admitted, %d states%n",
                world.nodes, world.limit, world.rules, most, seen.size());
        return new Finding(most, seen.size());
    }

    private static List<Moment> successors(Moment moment) {
        World world = moment.world;
        List<Moment> all = new ArrayList<>();
        if (moment.tick < (COUNTED + 1) * world.ticks - (world.trouble ? 0 : 1)) {
            Moment later = moment.copy();
            int window = later.window();
            later.tick++;
            if (later.window() != window) {
                later.used = 0;
            }
            all.add(later);
        }
        for (int i = 0; i < world.nodes; i++) {
            Node node = moment.nodes.get(i);
            if (moment.window() <= COUNTED) {
                for (int cost : world.costs) {
                    go(moment, i, all, (next, same) -> next.arrive(same, cost));
                }
            }
            if (node.message != null && !node.message.decided && moment.window() <= COUNTED) {
                go(moment, i, all, Moment::decide);
            }
            if (node.message != null && node.message.decided) {
                go(moment, i, all, Moment::deliver);
            }
            if (!world.trouble) {
                continue;
            }
            if (node.message != null) {
                go(moment, i, all, Moment::lose);
            }
            if (node.ledger.waiting()) {
                go(moment, i, all, Moment::cancel);
                go(moment, i, all, Moment::cancelFirst);
            }
            go(moment, i, all, Moment::crash);
            if (!node.ledger.waiting() && node.message == null && node.ledger.credits() > 0) {
                go(moment, i, all, Moment::giveBack);
            }
        }
        return all;
    }

    private interface Event {
        void happen(Moment moment, Node node);
    }

    private static void go(Moment moment, int node, List<Moment> all, Event event) {
        Moment next = moment.copy();
        event.happen(next, next.nodes.get(node));
        all.add(next);
    }

    @Test
    void carriesOverExactlyOneUnitLessThanABatchPerNode() {
        for (World world : List.of(
                new World(1, 4, 2, 3, 0, false, 2, 1, 2),
                new World(2, 4, 1, 2, 0, false, 1, 1),
                new World(2, 6, 1, 3, 0, false, 1, 1, 2).calm(),
                new World(3, 6, 1, 2, 0, false, 1, 1).calm(),
                new World(4, 8, 1, 2, 0, false, 1, 1).calm())) {
            Finding finding = explore(world);

            assertThat(finding.most()).isEqualTo(world.limit + world.carried());
        }
    }

    @Test
    void carriesOverALowWaterMoreWithRefills() {
        Finding one = explore(new World(1, 5, 2, 2, 1, false, 2, 1, 2));
        Finding two = explore(new World(2, 6, 1, 2, 1, false, 1, 1).calm());

        assertThat(one.most()).isEqualTo(5 + 2);
        assertThat(two.most()).isLessThanOrEqualTo(6 + 2 * 2);
    }

    @Test
    void admitsExactlyTheLimitWhenCreditsEndWithTheirWindow() {
        for (World world : List.of(
                new World(1, 4, 2, 3, 0, true, 2, 1, 2),
                new World(1, 4, 2, 2, 1, true, 2, 1, 2),
                new World(2, 3, 1, 2, 0, true, 2, 1),
                new World(2, 3, 2, 2, 0, true, 1, 1).calm(),
                new World(2, 4, 1, 3, 0, true, 1, 1, 2).calm(),
                new World(3, 5, 1, 2, 0, true, 1, 1).calm(),
                new World(4, 3, 1, 2, 0, true, 1, 1).calm())) {
            Finding finding = explore(world);

            assertThat(finding.most()).isEqualTo(world.limit);
        }
    }
}
