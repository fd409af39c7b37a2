package io.throttlekit.peers;

import static io.throttlekit.peers.Case.check;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;

/** How much is admitted in the long run. */
final class Rates {
    private static final int RATE = 2_000;

    private Rates() {}

    static void evenly(Subject subject) throws Exception {
        Limit limit = subject.library().evenly(subject.freshKey(), RATE);
        offer(subject, limit, 200);
        double[] perSecond = offer(subject, limit, 1_000);
        if (perSecond[0] < 2 * RATE && perSecond[1] < RATE * 0.95) {
            throw new NotApplicable("it takes 4000 decisions a second on one key, and there were %s"
                    .formatted(perSecond[0] < 1_000 ? "fewer than 1000" : "about " + Math.round(perSecond[0] / 1e3) + "000"));
        }
        check(
                Math.abs(perSecond[1] - RATE) <= RATE * 0.05,
                "%.0f/s",
                perSecond[1] < 100 ? perSecond[1] : Math.round(perSecond[1] / 10) * 10.0);
    }

    /** Asked and admitted per second. */
    private static double[] offer(Subject subject, Limit limit, int millis) throws Exception {
        int callers = subject.library().callers();
        LongAdder asked = new LongAdder();
        LongAdder admitted = new LongAdder();
        ExecutorService threads = Executors.newFixedThreadPool(callers);
        long start = System.nanoTime();
        long end = start + millis * 1_000_000L;
        try {
            List<Future<?>> loops = new ArrayList<>();
            for (int i = 0; i < callers; i++) {
                loops.add(threads.submit(() -> {
                    while (System.nanoTime() - end < 0) {
                        asked.increment();
                        if (limit.ask(1).allowed()) {
                            admitted.increment();
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> loop : loops) {
                loop.get();
            }
        } finally {
            threads.shutdown();
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        return new double[] {asked.sum() / seconds, admitted.sum() / seconds};
    }
}
