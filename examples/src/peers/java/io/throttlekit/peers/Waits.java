package io.throttlekit.peers;

import static io.throttlekit.peers.Case.check;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waiting for a turn, and coming again. */
final class Waits {
    private static final long EARLIER = 10_000_000;

    private Waits() {}

    static void cancelled(Subject subject) throws Exception {
        // Some have a race for it.
        for (int time = 0; time < 3; time++) {
            cancelledOnce(subject);
        }
    }

    private static void cancelledOnce(Subject subject) throws Exception {
        Limit limit = subject.library().waiting(subject.freshKey(), Duration.ofMillis(600));
        limit.await().get(5, TimeUnit.SECONDS);
        long first = System.nanoTime();
        Future<?> second = limit.await();
        Subject.sleepUntil(first + 100_000_000);
        second.cancel(true);
        Subject.sleepUntil(first + 110_000_000);
        Future<?> third = limit.await();
        try {
            third.get(3, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            third.cancel(true);
            throw new Case.Failure("no turn within 3 s");
        }
        long millis = (System.nanoTime() - first) / 1_000_000;
        check(millis >= 500 && millis <= 900, "turn after %d ms", Math.round(millis / 100.0) * 100);
    }

    static void hints(Subject subject) throws Exception {
        Limit limit = subject.library().perPeriod(subject.freshKey(), 10, Duration.ofSeconds(1));
        int right = 0;
        for (int trial = 0; right < 5 && trial < 40; trial++) {
            long cost = 1 + trial % 3;
            long asked = System.nanoTime();
            Answer denial = limit.ask(cost);
            if (denial.allowed()) {
                continue;
            }
            if (denial.hintNanos() < 0) {
                throw new NotApplicable("it does not say when to come again");
            }
            if (denial.hintNanos() > 2 * EARLIER) {
                Subject.sleepUntil(asked + denial.hintNanos() - EARLIER);
                Answer early = limit.ask(cost);
                long answered = System.nanoTime();
                // An answer that came too late to tell is none.
                if (answered - asked < denial.hintNanos()) {
                    check(!early.allowed(), "admitted 10 ms early");
                }
                if (early.allowed()) {
                    continue;
                }
                Subject.sleepUntil(answered + early.hintNanos());
                check(limit.ask(cost).allowed(), "denied after the hint");
                right++;
            } else {
                Subject.sleepUntil(System.nanoTime() + denial.hintNanos());
                check(limit.ask(cost).allowed(), "denied after the hint");
            }
        }
        check(right == 5, "no hint of more than 20 ms");
    }
}
