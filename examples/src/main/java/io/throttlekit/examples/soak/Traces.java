package io.throttlekit.examples.soak;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a process leaves behind.
 *
 * @param heapBytes in use after a collection
 * @param threads how many, by their names without numbers
 * @param connections to each server
 */
record Traces(long heapBytes, Map<String, Integer> threads, Map<String, Long> connections) {
    private static final long HEAP_GRACE = 24L << 20;

    static Traces now(List<Backend> backends) {
        Map<String, Long> connections = new LinkedHashMap<>();
        backends.forEach(backend -> connections.put(backend.name(), backend.connections()));
        Map<String, Integer> threads = new TreeMap<>();
        Thread.getAllStackTraces().keySet().forEach(thread -> threads.merge(family(thread), 1, Integer::sum));
        return new Traces(heap(), threads, connections);
    }

    private static String family(Thread thread) {
        return thread.getName().replaceAll("[0-9]+", "#");
    }

    private static long heap() {
        // Once for what is garbage, once for what its references held.
        System.gc();
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    int threadCount() {
        return threads.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** What there is more of than before. */
    List<String> beyond(Traces before) {
        List<String> more = new ArrayList<>();
        if (heapBytes > before.heapBytes + HEAP_GRACE) {
            more.add("heap: " + (before.heapBytes >> 20) + " MiB grew to " + (heapBytes >> 20) + " MiB");
        }
        threads.forEach((name, count) -> {
            int then = before.threads.getOrDefault(name, 0);
            if (count > then) {
                more.add("threads: " + then + " of " + name + " became " + count);
            }
        });
        connections.forEach((name, count) -> {
            long then = before.connections.getOrDefault(name, 0L);
            if (count > then) {
                more.add("connections: " + then + " to " + name + " became " + count);
            }
        });
        return more;
    }
}
