package io.throttlekit.peers;

import static io.throttlekit.peers.Case.check;

import java.time.Duration;

/** How much is admitted at once. */
final class Bursts {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration LONG = Duration.ofMinutes(10);

    private Bursts() {}

    static void exactBurst(Subject subject) throws Exception {
        if (!subject.library().startsFull()) {
            throw new NotApplicable("it has no burst to begin with: a new limiter has saved nothing yet");
        }
        for (int limit : new int[] {7, 27, 97, 1000}) {
            // Away from the ends of windows.
            Subject.awayFromSeconds();
            long start = System.nanoTime();
            Limit fresh = subject.library().perPeriod(subject.freshKey(), limit, SECOND);
            int admitted = Subject.count(fresh, limit + 20);
            long most = limit + flow(limit, start);
            check(admitted >= limit && admitted <= most, "%d of %d", admitted, limit);
        }
    }

    /** What flows in since then, rounded down. */
    private static long flow(int perSecond, long startNanos) {
        return (long) ((System.nanoTime() - startNanos) * 1e-9 * perSecond);
    }

    static void oversize(Subject subject) throws Exception {
        Limit limit = subject.library().perPeriod(subject.freshKey(), 10, LONG);
        long start = System.nanoTime();
        boolean allowed;
        try {
            allowed = limit.ask(11).allowed();
        } catch (NotApplicable e) {
            throw e;
        } catch (Exception e) {
            allowed = false;
        }
        long millis = (System.nanoTime() - start) / 1_000_000;
        check(!allowed, "11 of 10 admitted");
        check(millis < 500, "refused after %d ms", millis);
        int admitted = Subject.count(limit, 11);
        check(admitted == 10, "%d of 10 left", admitted);
    }

    static void idle(Subject subject) throws Exception {
        Subject.sleepIntoSecond(Duration.ZERO, 200);
        Limit limit = subject.library().perPeriod(subject.freshKey(), 20, SECOND);
        Subject.count(limit, 40);
        Subject.sleepUntil(System.nanoTime() + 2_500_000_000L);
        long start = System.nanoTime();
        int admitted = Subject.count(limit, 60);
        long most = 20 + flow(20, start);
        check(admitted >= 20 && admitted <= most, "%d of 20 at once", admitted);
    }

    static void windowEdge(Subject subject) throws Exception {
        Subject.sleepIntoSecond(Duration.ZERO, 500);
        long created = System.nanoTime();
        Limit limit = subject.library().perWindow(subject.freshKey(), 20, SECOND);
        limit.ask(1);
        for (int time = 0; time < 2; time++) {
            // Windows that began with the first use, and then windows of the clock.
            long seconds = (System.nanoTime() - created) / 1_000_000_000 + 2;
            Subject.sleepUntil(created + seconds * 1_000_000_000 - 40_000_000);
            across(limit);
            Subject.sleepIntoSecond(Duration.ofMillis(1200), 960);
            across(limit);
        }
    }

    private static void across(Limit limit) throws Exception {
        long start = System.nanoTime();
        int admitted = 0;
        for (long next = start; next - start < 80_000_000; next += 1_000_000) {
            Subject.sleepUntil(next);
            // The first use up the limit.
            admitted += Subject.count(limit, next == start ? 25 : 1);
        }
        double millis = (System.nanoTime() - start) / 1e6;
        long most = 20 + (long) Math.ceil(millis / 1e3 * 20);
        check(admitted <= most, "%d of 20 in %.0f ms", admitted, millis);
    }

    static void scriptFlush(Subject subject) throws Exception {
        if (!subject.library().onRedis()) {
            throw new NotApplicable("it is not on Redis");
        }
        Limit limit = subject.library().perPeriod(subject.freshKey(), 3, LONG);
        check(limit.ask(1).allowed(), "the first of 3 denied");
        subject.scriptFlush().run();
        int admitted = Subject.count(limit, 2);
        boolean more = limit.ask(1).allowed();
        check(admitted == 2 && !more, "%d of 2 left, then %s", admitted, more ? "one more" : "none");
    }
}
