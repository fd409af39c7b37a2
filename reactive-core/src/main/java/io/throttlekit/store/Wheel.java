package io.throttlekit.store;

import org.jspecify.annotations.Nullable;

/**
 * A hashed timing wheel of entries (Varghese and Lauck, 1987). Not thread-safe: the keeper guards it.
 *
 * <p>An entry is linked where it first belonged, and nothing moves it when it is touched. When its slot
 * comes due it is asked when it expires now, and is filed anew if that is later. So a check costs the wheel
 * nothing, and an entry is looked at once per expiry or once per turn of the wheel, whichever is later.
 */
final class Wheel {
    /** A place in a circular list, linked to itself when it is alone. */
    static class Link {
        Link previous = this;
        Link next = this;

        final void unlink() {
            previous.next = next;
            next.previous = previous;
            previous = this;
            next = this;
        }

        final void append(Link link) {
            link.previous = previous;
            link.next = this;
            previous.next = link;
            previous = link;
        }

        /** Takes over all links of another list, in order. */
        final void appendAll(Link head) {
            if (head.next == head) {
                return;
            }
            head.next.previous = previous;
            previous.next = head.next;
            head.previous.next = this;
            previous = head.previous;
            head.previous = head;
            head.next = head;
        }
    }

    private final long tickMicros;
    private final Link[] slots;
    /** Entries whose slot came due and that nobody has looked at yet. */
    private final Link due = new Link();
    /** The last tick whose slot came due. */
    private long done;

    Wheel(long tickMicros, int slots, long nowMicros) {
        this.tickMicros = tickMicros;
        this.slots = new Link[slots];
        for (int i = 0; i < slots; i++) {
            this.slots[i] = new Link();
        }
        this.done = Math.floorDiv(nowMicros, tickMicros);
    }

    /** Files an entry under its expiry, or as late as the wheel reaches. */
    void add(Entry entry, long expiresAtMicros) {
        long tick = -Math.floorDiv(-expiresAtMicros, tickMicros);
        long within = Math.max(done + 1, Math.min(done + slots.length, tick));
        slots[Math.floorMod(within, slots.length)].append(entry);
    }

    /** Moves the slots that have come due aside; costs one step per slot at most. */
    void advance(long nowMicros) {
        long tick = Math.floorDiv(nowMicros, tickMicros);
        long turns = Math.min(slots.length, tick - done);
        for (long i = 1; i <= turns; i++) {
            due.appendAll(slots[Math.floorMod(done + i, slots.length)]);
        }
        done = Math.max(done, tick);
    }

    /** Takes the next entry whose slot came due. */
    @Nullable
    Entry poll() {
        if (!(due.next instanceof Entry entry)) {
            return null;
        }
        entry.unlink();
        return entry;
    }
}
