package io.throttlekit.peers;

import static io.throttlekit.peers.Case.check;

/** How much is admitted in the long run. */
final class Rates {
    private static final double PER_SECOND = 2_000;
    private static final double INTERVAL_NANOS = 1e9 / PER_SECOND;
    private static final double SLACK = 1.05;
    private static final long WARM_UP = 300_000_000;
    private static final long SPAN = 1_000_000_000;

    private Rates() {}

    /**
     * A rate without a burst is lost for as long as nobody asks, and on a busy machine that is often. So a rate that
     * is too low is told by a single request: one that is denied although nothing was admitted for an interval. Times
     * are taken before and after each request, so that a pause of the machine can only hide such a denial.
     */
    static void evenly(Subject subject) throws Exception {
        Limit limit = subject.library().evenly(subject.freshKey(), (long) PER_SECOND);
        for (long start = System.nanoTime(); System.nanoTime() - start < WARM_UP; ) {
            limit.ask(1);
        }
        int asked = 0;
        int admitted = 0;
        int lost = 0;
        long start = System.nanoTime();
        long lastAdmitted = start;
        long now = start;
        while (now - start < SPAN) {
            boolean allowed = limit.ask(1).allowed();
            long answered = System.nanoTime();
            asked++;
            if (allowed) {
                admitted++;
                lastAdmitted = answered;
            } else if (now - lastAdmitted > INTERVAL_NANOS * SLACK) {
                lost++;
            }
            now = answered;
        }
        double intervals = (now - start) / INTERVAL_NANOS;
        check(admitted <= intervals * SLACK + 1, "one per %.3f ms", (now - start) / 1e6 / admitted);
        if (asked < intervals) {
            throw new NotApplicable("one caller gets fewer than 2000 answers a second");
        }
        check(lost == 0, "one per %.1f ms", (now - start) / 1e6 / Math.max(1, admitted));
    }
}
