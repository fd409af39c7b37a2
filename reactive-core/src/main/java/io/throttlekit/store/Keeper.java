package io.throttlekit.store;

import io.throttlekit.ScalarTransform;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Which keys exist: the map that checks read, and beside it the wheel and the candidates for eviction,
 * which only change together with the map.
 *
 * <p>Reading takes no lock. Adding and removing a key takes the keeper's monitor for well under a
 * microsecond; a sweep takes it for {@link #BATCH} entries at a time. An entry is dead before it leaves the
 * map, so an updater that still holds it notices, and tries again with a new one.
 */
final class Keeper {
    /** Candidates looked at to make room for one key. */
    private static final int CANDIDATES = 8;
    /** Entries handled under one hold of the monitor during a sweep. */
    private static final int BATCH = 64;

    private final ConcurrentMap<String, Entry> entries = new ConcurrentHashMap<>();
    private final Wheel wheel;
    private final int maxKeys;
    /** All entries in no order, for drawing from at random; unused without a bound. */
    private Entry[] candidates = new Entry[16];

    private int count;

    Keeper(Wheel wheel, int maxKeys) {
        this.wheel = wheel;
        this.maxKeys = maxKeys;
    }

    @Nullable
    Entry get(String key) {
        return entries.get(key);
    }

    int count() {
        return entries.size();
    }

    /**
     * Adds an entry unless its key is there.
     *
     * @return whether it was added; if not, look the key up again
     */
    synchronized boolean add(Entry entry, long nowMicros) {
        if (entries.get(entry.key) != null) {
            return false;
        }
        if (maxKeys > 0 && count >= maxKeys) {
            remove(leastLost(nowMicros));
        }
        put(entry);
        return true;
    }

    /** Forgets a key. */
    synchronized void remove(String key) {
        Entry entry = entries.get(key);
        if (entry != null) {
            remove(entry);
        }
    }

    /**
     * Forgets an entry that has expired.
     *
     * @return whether the entry is not there any more
     */
    synchronized boolean removeIfExpired(Entry entry, long nowMicros) {
        if (entries.get(entry.key) != entry) {
            return true;
        }
        if (!entry.killIfExpired(nowMicros)) {
            return false;
        }
        remove(entry);
        return true;
    }

    /** Forgets all keys. */
    synchronized void clear() {
        for (Entry entry : entries.values()) {
            remove(entry);
        }
    }

    /** Gives a key that is kept as an instant the general form of its state. */
    synchronized void generalize(Entry.Cell cell, long originMicros) {
        if (entries.get(cell.key) != cell) {
            return;
        }
        long ticks = cell.take();
        Object state = ticks <= ScalarTransform.ABSENT ? null : cell.made.fromTicks(ticks, originMicros);
        remove(cell);
        put(new Entry.Section(cell.key, cell.codec, state));
    }

    /**
     * Forgets what has expired, in small batches.
     *
     * @return whether any key is left
     */
    boolean sweep(long nowMicros) {
        synchronized (this) {
            wheel.advance(nowMicros);
        }
        while (sweepBatch(nowMicros)) {
            Thread.onSpinWait();
        }
        return !entries.isEmpty();
    }

    private synchronized boolean sweepBatch(long nowMicros) {
        for (int i = 0; i < BATCH; i++) {
            Entry entry = wheel.poll();
            if (entry == null) {
                return false;
            }
            if (entry.killIfExpired(nowMicros)) {
                remove(entry);
            } else {
                wheel.add(entry, entry.expiresAt());
            }
        }
        return true;
    }

    private void put(Entry entry) {
        // Asked first: a codec that fails must not leave half an entry behind.
        long expiresAt = entry.expiresAt();
        if (maxKeys > 0) {
            if (count == candidates.length) {
                candidates = Arrays.copyOf(candidates, Math.min(maxKeys, 2 * count));
            }
            candidates[count] = entry;
            entry.place = count;
        }
        count++;
        wheel.add(entry, expiresAt);
        entries.put(entry.key, entry);
    }

    private void remove(Entry entry) {
        entry.kill();
        entries.remove(entry.key, entry);
        entry.unlink();
        count--;
        if (maxKeys > 0) {
            Entry last = candidates[count];
            candidates[entry.place] = last;
            last.place = entry.place;
            candidates[count] = entry;
        }
    }

    /** Of a few entries drawn at random, the one that loses least by being forgotten. */
    private Entry leastLost(long nowMicros) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        Entry best = candidates[random.nextInt(count)];
        long bestRemaining = best.remaining(nowMicros);
        long bestExpiry = best.expiresAt();
        for (int i = 1; i < CANDIDATES; i++) {
            Entry entry = candidates[random.nextInt(count)];
            long remaining = entry.remaining(nowMicros);
            if (remaining < bestRemaining) {
                continue;
            }
            long expiry = entry.expiresAt();
            if (remaining > bestRemaining || expiry < bestExpiry) {
                best = entry;
                bestRemaining = remaining;
                bestExpiry = expiry;
            }
        }
        return best;
    }
}
