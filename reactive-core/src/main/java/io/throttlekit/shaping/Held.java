package io.throttlekit.shaping;

import io.throttlekit.ExactMicros;
import io.throttlekit.Transform;
import io.throttlekit.strategy.Departure;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * The elements that a pacing operator holds: those with a departure, by time, and those that still have to be
 * reserved, by key. Not thread-safe.
 */
final class Held<T> {
    /** What is held of one key; it exists only while something is. */
    static final class Lane<T> {
        final String key;
        final ArrayDeque<Arrival<T>> waiting = new ArrayDeque<>();
        /** A reservation is under way, or the first of the waiting was told to try again later. */
        boolean busy;

        /** Places to give back once the answer that is under way is there, since that one is newer. */
        final List<Departure> freed = new ArrayList<>(0);

        private int departures;
        private long lastNanos;

        private Lane(String key) {
            this.key = key;
        }

        /** Whether an element that is reserved now has one of its key before it. */
        boolean hasDepartures() {
            return departures > 0;
        }
    }

    /** An element and what reserves its place. */
    record Arrival<T>(T element, Transform<ExactMicros, Departure> reserving) {}

    /** Something to do at an instant: let an element go, or when there is none, try its lane again. */
    record Due<T>(
            long atNanos,
            long number,
            Lane<T> lane,
            @Nullable T element,
            @Nullable Departure place) {
        /** Nanoseconds may wrap around, so only their difference counts. */
        private static int compare(Due<?> a, Due<?> b) {
            long difference = a.atNanos - b.atNanos;
            return difference != 0 ? Long.signum(difference) : Long.compare(a.number, b.number);
        }
    }

    private final Map<String, Lane<T>> lanes = new HashMap<>();
    private final PriorityQueue<Due<T>> due = new PriorityQueue<>(Due::compare);
    private long number;

    boolean isEmpty() {
        return lanes.isEmpty();
    }

    @Nullable
    Lane<T> find(String key) {
        return lanes.isEmpty() ? null : lanes.get(key);
    }

    /** The lane of a key, which was found or else is made. */
    Lane<T> lane(String key, @Nullable Lane<T> found) {
        if (found != null) {
            return found;
        }
        Lane<T> lane = new Lane<>(key);
        lanes.put(key, lane);
        return lane;
    }

    void forgetIfIdle(Lane<T> lane) {
        if (lane.departures == 0 && !lane.busy && lane.waiting.isEmpty()) {
            lanes.remove(lane.key, lane);
        }
    }

    /** Files a departure, but not before that of an earlier element of its key: the line may have been reset. */
    void depart(Lane<T> lane, long atNanos, T element, Departure place) {
        boolean overtakes = lane.departures > 0 && atNanos - lane.lastNanos < 0;
        lane.lastNanos = overtakes ? lane.lastNanos : atNanos;
        lane.departures++;
        due.add(new Due<>(lane.lastNanos, number++, lane, element, place));
    }

    /** Has an element tried again at an instant, before all others of its key. */
    void retry(Lane<T> lane, long atNanos, Arrival<T> arrival) {
        lane.busy = true;
        lane.waiting.addFirst(arrival);
        due.add(new Due<>(atNanos, number++, lane, null, null));
    }

    boolean nothingDue() {
        return due.isEmpty();
    }

    @Nullable
    Due<T> first() {
        return due.peek();
    }

    void removeFirst() {
        Due<T> first = due.remove();
        if (first.element == null) {
            first.lane.busy = false;
        } else {
            first.lane.departures--;
        }
    }

    /** Leaves only departures. */
    void discardWaiting(Context context) {
        due.removeIf(entry -> {
            boolean retry = entry.element == null;
            entry.lane.busy &= !retry;
            return retry;
        });
        for (Lane<T> lane : lanes.values()) {
            for (Arrival<T> arrival : lane.waiting) {
                Operators.onDiscard(arrival.element, context);
            }
            lane.waiting.clear();
        }
    }

    /**
     * Discards everything, and tells which places that frees: by key, the newest first. Those of a lane with a
     * reservation under way are left to it.
     */
    Map<String, List<Departure>> discardAll(Context context) {
        discardWaiting(context);
        lanes.clear();
        Map<String, List<Departure>> places = new LinkedHashMap<>();
        List<Due<T>> newestFirst = new ArrayList<>(due);
        newestFirst.sort(Comparator.<Due<T>>comparingLong(entry -> entry.number).reversed());
        due.clear();
        for (Due<T> entry : newestFirst) {
            if (entry.place != null) {
                List<Departure> freed = entry.lane.busy
                        ? entry.lane.freed
                        : places.computeIfAbsent(entry.lane.key, key -> new ArrayList<>());
                freed.add(entry.place);
            }
            Operators.onDiscard(entry.element, context);
        }
        return places;
    }
}
