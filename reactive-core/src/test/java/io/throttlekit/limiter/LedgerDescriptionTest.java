package io.throttlekit.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.limiter.Ledger.Rules;
import io.throttlekit.limiter.LedgerTest.Told;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The exhaustive search of {@link LedgerModelTest} goes on from copies, and once from all ledgers of one
 * description. That is sound only if these do the same, whatever happens next.
 */
class LedgerDescriptionTest {
    /** An event in a ledger's life; tells what it answers. */
    private interface Event {
        @Nullable
        Object happen(Ledger<String> ledger, long now, Ledger.Outcomes<String> outcomes);
    }

    /** A ledger, and how many waiters it has seen. */
    private record Life(Ledger<String> ledger, int waiters, long now) {
        List<Long> description() {
            List<Long> numbers = new ArrayList<>();
            ledger.describe(now, numbers::add);
            return numbers;
        }
    }

    private static Map<String, Event> events(int waiters) {
        Map<String, Event> events = new LinkedHashMap<>();
        String next = "w" + waiters;
        for (long cost : new long[] {1, 2}) {
            events.put("take " + cost, (ledger, now, to) -> ledger.take(cost, cost, now));
            events.put("wait for " + cost, (ledger, now, to) -> ledger.enqueue(next, cost, cost));
            events.put("give back " + cost, (ledger, now, to) -> {
                ledger.giveBack(cost, 2, now, to);
                return ledger.takeSurplus();
            });
            for (long window : new long[] {2, 4}) {
                for (long early : new long[] {0, 2}) {
                    events.put("grant " + cost + " until " + window + " less " + early, (ledger, now, to) -> {
                        if (ledger.inFlight()) {
                            ledger.granted(cost, window, now + window - early, now, to);
                        }
                        return ledger.takeSurplus();
                    });
                }
            }
        }
        events.put("wait for 1 to 2", (ledger, now, to) -> ledger.enqueue(next, 1, 2));
        events.put("lease", (ledger, now, to) -> ledger.lease(now));
        events.put("refill", (ledger, now, to) -> ledger.refill(now));
        events.put("deny", (ledger, now, to) -> {
            if (ledger.inFlight()) {
                ledger.denied(now, to);
            }
            return null;
        });
        events.put("fail", (ledger, now, to) -> {
            if (ledger.inFlight()) {
                ledger.failed(now, to);
            }
            return null;
        });
        events.put("leave", (ledger, now, to) -> {
            String first = ledger.first();
            return first != null && ledger.cancel(first, now, to);
        });
        events.put("reset", (ledger, now, to) -> {
            ledger.discard();
            return null;
        });
        events.put("give up", (ledger, now, to) -> ledger.empty(now));
        return events;
    }

    @Test
    void ledgersOfOneDescriptionDoTheSame() {
        for (boolean coupled : new boolean[] {false, true}) {
            Random random = new Random(1);
            Map<List<Long>, Map<String, String>> seen = new HashMap<>();
            List<Life> open = new ArrayList<>();
            open.add(new Life(new Ledger<>(new Rules(3, 2, 1, coupled, 2)), 0, 0));
            int again = 0;
            while (seen.size() < 400) {
                // The older half first, so that many ways are found to what was seen before.
                Life life = open.remove(random.nextInt((open.size() + 1) / 2));
                List<Long> description = life.description();
                Map<String, String> future = future(life);
                assertThat(life.description()).as("the original").isEqualTo(description);
                Map<String, String> known = seen.putIfAbsent(description, future);
                if (known != null) {
                    assertThat(future).as("%s", description).isEqualTo(known);
                    again++;
                    continue;
                }
                for (Event event : events(life.waiters).values()) {
                    open.add(after(life, event, new Told()));
                }
                open.add(new Life(life.ledger.copy(), life.waiters, life.now + 1));
            }
            assertThat(again).isGreaterThan(400);
        }
    }

    private static Life after(Life life, Event event, Told told) {
        Ledger<String> next = life.ledger.copy();
        told.add(Objects.toString(event.happen(next, life.now, told)));
        return new Life(next, life.waiters + 1, life.now);
    }

    /** What every event would do: who hears what, without names, and the description that follows. */
    private static Map<String, String> future(Life life) {
        assertThat(new Life(life.ledger.copy(), life.waiters, life.now).description())
                .as("the copy")
                .isEqualTo(life.description());
        Map<String, String> futures = new LinkedHashMap<>();
        events(life.waiters).forEach((name, event) -> {
            Told told = new Told();
            Life after = after(life, event, told);
            futures.put(name, told.toString().replaceAll("w[0-9]+", "w") + after.description());
        });
        return futures;
    }
}
