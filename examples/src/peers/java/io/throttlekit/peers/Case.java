package io.throttlekit.peers;

import java.util.List;
import java.util.Locale;

/**
 * One thing that a limiter can be expected to do.
 *
 * @param name the head of its column
 * @param asserted what exactly is asserted
 * @param alone whether nothing else may run meanwhile
 * @param trial does it once
 */
record Case(String name, String asserted, boolean alone, Trial trial) {
    /** Does a case once on a library. */
    @FunctionalInterface
    interface Trial {
        /**
         * Returns nothing, or says what was seen.
         *
         * @throws Failure when something else was seen than what is asserted
         * @throws NotApplicable when the library cannot be asked that
         */
        void run(Subject subject) throws Exception;
    }

    /** What was seen instead. */
    static final class Failure extends Exception {
        private static final long serialVersionUID = 1;

        Failure(String seen) {
            super(seen);
        }
    }

    static void check(boolean right, String seen, Object... values) throws Failure {
        if (!right) {
            throw new Failure(String.format(Locale.ROOT, seen, values));
        }
    }

    /** All of them, in the order of the table. */
    static List<Case> all() {
        return List.of(
                new Case(
                        "exact burst",
                        "A key never used before, by the real clock, with 7, 27, 97 and 1000 per second, all of which"
                                + " may be taken at once, is asked for 20 more than that as fast as possible. At least"
                                + " the burst is admitted, and at most the burst and what flows in meanwhile, rounded"
                                + " down.",
                        false,
                        Bursts::exactBurst),
                new Case(
                        "2000/s, burst 1",
                        "2000 per second and no burst, asked for a second by one caller without a pause: as often as the"
                                + " library answers, which must be 2000 times or it is not judged. At most 2000/s + 5 %"
                                + " are admitted, and no request is denied when nothing was admitted for 0.5 ms + 5 %"
                                + " before it was sent.",
                        true,
                        Rates::evenly),
                new Case(
                        "stale clock",
                        "10 per 10 minutes. A node takes what it gets, then a second node whose clock is an hour ahead"
                                + " or behind does, or the other way round. Together they get 10.",
                        false,
                        Clocks::stale),
                new Case(
                        "oversize cost",
                        "Of 10 per 10 minutes, 11 are asked for in one request. It is refused, by an answer or an"
                                + " error, within half a second, and then 10 requests for one each are admitted and an"
                                + " 11th is not.",
                        false,
                        Bursts::oversize),
                new Case(
                        "cancelled waiter",
                        "One per 600 ms. One is taken, a second one waits and is cancelled after 100 ms, then a third"
                                + " one waits: it has its turn in 500 to 900 ms after the first, rather than in 1200;"
                                + " three times.",
                        false,
                        Waits::cancelled),
                new Case(
                        "long idle",
                        "20 per second, used up, left alone for 2.5 s and then asked for 60 as fast as possible. At"
                                + " least 20 are admitted, and at most 20 and what flows in meanwhile, rounded down.",
                        false,
                        Bursts::idle),
                new Case(
                        "window edge",
                        "20 per second, unused for a second, then asked every millisecond from 40 ms before until"
                                + " 40 ms after an instant where a window may end: 2 s after the first use, and a whole"
                                + " second of the clock. At most 20 and what flows in in that time, rounded up, are"
                                + " admitted: not twice the limit.",
                        false,
                        Bursts::windowEdge),
                new Case(
                        "SCRIPT FLUSH",
                        "3 per 10 minutes on Redis. One is taken, SCRIPT FLUSH is sent to the server, and of the next"
                                + " three requests two are admitted and the last is not, without an error.",
                        true,
                        Bursts::scriptFlush),
                new Case(
                        "retry hint",
                        "10 per second, asked for 1 to 3 at a time until denied with a hint of more than 20 ms. The"
                                + " same request is denied when it comes 10 ms before the hint is over, and admitted"
                                + " when it comes as long after the denial as it says; five times.",
                        false,
                        Waits::hints));
    }
}
