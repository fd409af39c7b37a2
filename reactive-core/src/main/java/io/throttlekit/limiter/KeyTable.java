package io.throttlekit.limiter;

import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A map with a bound. To make room for a key, a few others are drawn at random and the least valuable of
 * them that is not in use has to go.
 *
 * <p>Reading takes no lock. A lock is held, briefly, to add and to remove; an item's own lock may be taken
 * under it, never the other way round.
 */
final class KeyTable<E extends KeyTable.Item> {
    private static final int DRAWN = 5;

    /** What is kept for a key. */
    abstract static class Item {
        final String key;
        /** Where it is among the candidates, guarded by the table. */
        private int place;

        Item(String key) {
            this.key = key;
        }

        /** An instant on the monotonic clock: the earlier, the less is lost by forgetting the item. */
        abstract long value();

        /** Ends the item if it is not in use: nothing is kept in it afterwards. Called with the table's lock. */
        abstract boolean retire();

        /** Follows when the item had to make room; without the table's lock. */
        abstract void ended();
    }

    private final ConcurrentMap<String, E> items = new ConcurrentHashMap<>();
    private final List<E> places = new ArrayList<>();
    private final int maxKeys;
    private boolean closed;

    KeyTable(int maxKeys) {
        this.maxKeys = maxKeys;
    }

    @Nullable
    E get(String key) {
        return items.get(key);
    }

    int size() {
        return items.size();
    }

    /** What there is now, without order. */
    Iterable<E> all() {
        return items.values();
    }

    /**
     * The item of a key, made if there is none.
     *
     * @return null when there is no room, because all that were drawn are in use
     * @throws StoreUnavailableException if the table is closed
     */
    @Nullable
    E getOrAdd(String key, Function<String, E> maker) {
        E ended = null;
        E added;
        synchronized (this) {
            if (closed) {
                throw closed();
            }
            E present = items.get(key);
            if (present != null) {
                return present;
            }
            if (places.size() >= maxKeys) {
                ended = makeRoom();
                if (ended == null) {
                    return null;
                }
            }
            added = maker.apply(key);
            ((Item) added).place = places.size();
            places.add(added);
            items.put(key, added);
        }
        if (ended != null) {
            ended.ended();
        }
        return added;
    }

    private @Nullable E makeRoom() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        for (int attempt = 0; attempt < DRAWN; attempt++) {
            E least = places.get(random.nextInt(places.size()));
            for (int i = 1; i < DRAWN; i++) {
                E other = places.get(random.nextInt(places.size()));
                if (other.value() - least.value() < 0) {
                    least = other;
                }
            }
            if (least.retire()) {
                drop(least);
                return least;
            }
        }
        return null;
    }

    /** Removes an item that has ended. */
    synchronized void remove(E item) {
        if (items.get(item.key) == item) {
            drop(item);
        }
    }

    private void drop(E item) {
        items.remove(item.key);
        E last = places.remove(places.size() - 1);
        if (last != item) {
            int place = ((Item) item).place;
            places.set(place, last);
            ((Item) last).place = place;
        }
    }

    /** Takes no more, and hands over what there was. */
    synchronized List<E> close() {
        closed = true;
        List<E> rest = List.copyOf(places);
        places.clear();
        items.clear();
        return rest;
    }

    static StoreUnavailableException closed() {
        return new StoreUnavailableException(Reason.CLOSED, false, "the limiter is closed", null);
    }
}
