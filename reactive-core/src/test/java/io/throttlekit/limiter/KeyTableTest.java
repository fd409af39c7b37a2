package io.throttlekit.limiter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class KeyTableTest {
    private final List<String> ended = new ArrayList<>();

    private final class Thing extends KeyTable.Item {
        private final long value;
        boolean busy;

        Thing(String key, long value) {
            super(key);
            this.value = value;
        }

        @Override
        long value() {
            return value;
        }

        @Override
        boolean retire() {
            return !busy;
        }

        @Override
        void ended() {
            ended.add(key);
        }
    }

    private Thing put(KeyTable<Thing> table, String key, long value) {
        return Objects.requireNonNull(table.getOrAdd(key, k -> new Thing(k, value)));
    }

    @Test
    void keepsOneItemPerKey() {
        KeyTable<Thing> table = new KeyTable<>(2);

        Thing a = put(table, "a", 1);
        Thing b = put(table, "b", 2);

        assertThat(put(table, "a", 3)).isSameAs(a);
        assertThat(table.get("b")).isSameAs(b);
        assertThat(table.get("c")).isNull();
        assertThat(table.size()).isEqualTo(2);
        assertThat(table.all()).containsExactlyInAnyOrder(a, b);
        assertThat(ended).isEmpty();
    }

    @Test
    void makesRoomAtItsBoundAndTellsWhoHadToGo() {
        KeyTable<Thing> table = new KeyTable<>(1);
        put(table, "a", 1);

        Thing b = put(table, "b", 2);

        assertThat(table.all()).containsExactly(b);
        assertThat(ended).containsExactly("a");
    }

    @Test
    void hasNoRoomWhileEverythingIsInUse() {
        KeyTable<Thing> table = new KeyTable<>(1);
        Thing a = put(table, "a", 1);
        a.busy = true;

        assertThat(table.getOrAdd("b", key -> new Thing(key, 2))).isNull();
        assertThat(table.all()).containsExactly(a);
        assertThat(ended).isEmpty();

        a.busy = false;
        assertThat(table.getOrAdd("b", key -> new Thing(key, 2))).isNotNull();
    }

    /** Five are drawn of two, so the better one goes only if it was drawn five times: once in 32. */
    @Test
    void theLeastValuableOfThoseDrawnHasToGo() {
        int wrong = 0;
        for (int round = 0; round < 400; round++) {
            KeyTable<Thing> table = new KeyTable<>(2);
            // The monotonic clock may pass its largest value: the second is the later one.
            put(table, "earlier", Long.MAX_VALUE);
            put(table, "later", Long.MIN_VALUE);

            put(table, "new", 0);

            if (table.get("later") == null) {
                wrong++;
            }
        }

        assertThat(wrong).isLessThan(80);
        assertThat(ended).hasSize(400);
    }

    @Test
    void looksFurtherWhenTheLeastValuableIsInUse() {
        int without = 0;
        for (int round = 0; round < 400; round++) {
            KeyTable<Thing> table = new KeyTable<>(2);
            put(table, "busy", 1).busy = true;
            put(table, "idle", 2);

            if (table.getOrAdd("new", key -> new Thing(key, 3)) == null) {
                without++;
            }
        }

        // Each of five attempts fails unless it draws the idle one alone.
        assertThat(without).isBetween(200, 399);
    }

    @Test
    void removesAnItemAndNotItsSuccessor() {
        KeyTable<Thing> table = new KeyTable<>(10);
        Thing old = put(table, "a", 1);
        table.remove(old);
        Thing young = put(table, "a", 2);

        table.remove(old);

        assertThat(table.get("a")).isSameAs(young);
        assertThat(table.size()).isEqualTo(1);
    }

    @Test
    void whateverIsRemovedTheRestCanStillMakeRoom() {
        KeyTable<Thing> table = new KeyTable<>(4);
        Thing a = put(table, "a", 1);
        Thing b = put(table, "b", 1);
        Thing c = put(table, "c", 1);
        put(table, "d", 1);
        // Each time the last in the list moves to the place that became free.
        table.remove(a);
        table.remove(c);
        table.remove(b);
        assertThat(table.all()).extracting(thing -> thing.key).containsExactly("d");

        for (String key : List.of("e", "f", "g", "h", "i", "j", "k")) {
            put(table, key, 1);
        }

        assertThat(table.size()).isEqualTo(4);
        assertThat(ended).hasSize(4).doesNotContain("a", "b", "c").doesNotHaveDuplicates();
        assertThat(table.close())
                .extracting(thing -> thing.key)
                .doesNotHaveDuplicates()
                .hasSize(4);
    }

    @Test
    void handsOverWhatItHadWhenClosedAndTakesNoMore() {
        KeyTable<Thing> table = new KeyTable<>(10);
        Thing a = put(table, "a", 1);

        assertThat(table.close()).containsExactly(a);

        assertThat(table.get("a")).isNull();
        assertThat(table.size()).isZero();
        assertThatThrownBy(() -> put(table, "a", 1)).isInstanceOfSatisfying(StoreUnavailableException.class, error -> {
            assertThat(error.reason()).isEqualTo(Reason.CLOSED);
            assertThat(error.mayHaveCharged()).isFalse();
        });
        assertThat(table.close()).isEmpty();
    }
}
