package io.throttlekit.concurrency;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The law before it was improved, for comparison: it moves at every sample, its no-load RTT is the least of the
 * last so many, found in constant time per sample with a queue of ascending candidates.
 */
final class PlainGradient2 {
    private record Candidate(long index, long rtt) {}

    private final int min;
    private final int max;
    private final int rttWindow;
    private final Deque<Candidate> candidates = new ArrayDeque<>();
    private long index;
    private double limit;

    PlainGradient2(int min, int max, int rttWindow) {
        this.min = min;
        this.max = max;
        this.rttWindow = rttWindow;
        this.limit = min;
    }

    int limit() {
        return (int) limit;
    }

    void succeeded(long rtt, int inFlight) {
        while (!candidates.isEmpty() && candidates.getLast().rtt >= rtt) {
            candidates.removeLast();
        }
        candidates.addLast(new Candidate(index, rtt));
        if (candidates.getFirst().index <= index - rttWindow) {
            candidates.removeFirst();
        }
        index++;
        if (inFlight < limit / 2) {
            return;
        }
        double noLoad = candidates.getFirst().rtt;
        double gradient = rtt == 0 ? 1 : Math.max(0.5, Math.min(1, 2 * noLoad / rtt));
        double next = limit * gradient + Math.sqrt(limit);
        limit = Math.max(min, Math.min(max, 0.8 * limit + 0.2 * next));
    }
}
