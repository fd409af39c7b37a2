package io.throttlekit.concurrency;

/**
 * Turns samples into a limit: the part that all laws share. It has no clock and no threads, so that the same
 * samples always give the same limits. A sample costs a few additions; the rest is done once per round.
 *
 * <p><b>The plain law</b> takes the least RTT of the last {@code rttWindow} samples for the no-load RTT and
 * moves the limit at every sample, up as long as the RTT is below {@code tolerance} times that. It goes wrong
 * in four ways, which the simulation in the tests shows beside what is done here:
 *
 * <ul>
 *   <li><i>It moves before it can see what its last move did.</i> An RTT tells about the limit of one RTT ago,
 *       and meanwhile as many samples arrive as there are requests in flight. So samples are gathered in
 *       rounds. After a change somewhat more than a mean RTT passes unheeded, then 10 to 100 samples are
 *       averaged, or up to 400 if they vary much, then the limit moves once. Drops of requests that were
 *       admitted before the last cut count with that cut; together they take at most half. TCP does the same
 *       (RFC 5681, RFC 6582: once per window of data).
 *   <li><i>A steady RTT of 1.25 times the no-load RTT lets it grow</i>, though a fifth of the requests are then
 *       waiting: it comes to rest at {@code tolerance} times the capacity. The allowance has to be earned by
 *       noise here: an RTT counts as longer when it is longer by more than two standard errors of the two
 *       means, and always when it is longer than {@code tolerance} times. So the queue is estimated as TCP
 *       Vegas does (Brakmo and Peterson, 1995), with a dead zone as wide as the uncertainty.
 *   <li><i>One lucky sample is the baseline for a whole window.</i> The baseline is the mean of a round here,
 *       as in Gradient2 of Netflix, whose authors found that the minimum sheds too much, and it is lowered only
 *       by a mean that is lower by more than chance. An outlier counts as {@code 2 · tolerance} times the
 *       baseline at most, beyond which the gradient is at its bound anyway.
 *   <li><i>The baseline drifts.</i> Under constant load the last window holds queued requests only; their RTT
 *       becomes the baseline, the limit grows, and so on up to the maximum. Whether a long RTT is a queue of
 *       our making or a server that has become slower can only be told by asking for less, as BBR
 *       (Cardwell et al., 2016: ProbeRTT) and Envoy's gradient controller do from time to time. Here every cut
 *       by a tenth or more is such a trial, and if there was none for a window while the RTT was long, the
 *       limit is lowered by a fifth for a round. If the RTT followed the number in flight by at least half,
 *       it was a queue, and the cut stands. If not, the server is slower: this RTT is the new baseline, and
 *       the cut is taken back. A limit whose RTT is at the baseline is never lowered to find out.
 * </ul>
 */
final class LimitControl {
    private static final int LEAST_ROUND = 10;
    private static final int MOST_NEEDED = 100;
    /** A round whose mean is not yet precise goes on for up to so many times as long. */
    private static final int NOISY_TIMES = 4;

    private static final double PRECISION = 0.05;
    /** So many mean RTTs after a change, those who were admitted before it are gone. */
    private static final double SETTLE = 1.25;

    private static final double STANDARD_ERRORS = 2;
    /** Cuts to this part of the limit or less are trials. */
    private static final double TRIAL = 0.901;

    private static final double PROBE = 0.8;

    private final Law law;
    private final int min;
    private final int max;
    private final int rttWindow;
    private final double tolerance;

    private double limit;
    private boolean shrunkBefore;

    // The round that is being gathered.
    private int samples;
    private int used;
    private double rttSum;
    private double rttSquares;
    private double inFlightSum;
    private boolean settling;
    private long settledNanos;

    // The baseline; zero is none yet.
    private double noLoad;
    private double noLoadVariance;

    // The trial that is on; inFlightBefore is zero if none is.
    private boolean shrunkBeforeTrial;
    private double limitBefore;
    private double rttBefore;
    private double inFlightBefore;
    private long sinceTrial;

    private double lastRtt;

    // The last cut for drops, and what the drops of requests admitted before it may lower the limit to.
    private boolean dropped;
    private long droppedNanos;
    private double dropFloor;

    LimitControl(Law law, int min, int max, int initial, int rttWindow, double tolerance) {
        this.law = law;
        this.min = min;
        this.max = max;
        this.limit = initial;
        this.rttWindow = rttWindow;
        this.tolerance = tolerance;
    }

    int limit() {
        return (int) limit;
    }

    /** Zero until the first round is over. */
    long noLoadNanos() {
        return (long) noLoad;
    }

    /**
     * A request that went well.
     *
     * @param inFlight how many there were when it was admitted, itself among them
     * @param limitThen the limit at that time
     */
    void succeeded(long nowNanos, long rttNanos, int inFlight, int limitThen) {
        sinceTrial++;
        if (settling) {
            if (nowNanos - settledNanos < 0) {
                return;
            }
            settling = false;
        }
        double rtt = noLoad > 0 ? Math.min((double) rttNanos, 2 * tolerance * noLoad) : rttNanos;
        rttSum += rtt;
        rttSquares += rtt * rtt;
        inFlightSum += inFlight;
        if (2L * inFlight >= limitThen) {
            used++;
        }
        int enough = Math.max(LEAST_ROUND, Math.min(MOST_NEEDED, limit()));
        if (++samples >= enough && (samples >= NOISY_TIMES * enough || isPrecise())) {
            close(nowNanos);
        }
    }

    /** Whether the standard error of the mean is small against it: that of {@link #variance}, without its divisions. */
    private boolean isPrecise() {
        return rttSquares * samples <= rttSum * rttSum * (1 + PRECISION * PRECISION * (samples - 1));
    }

    /** Of the mean, not of the samples. */
    private double variance() {
        double rtt = rttSum / samples;
        return Math.max(0, rttSquares / samples - rtt * rtt) / (samples - 1);
    }

    /** A request that timed out, or failed in a way that means overload. */
    void dropped(long nowNanos, long rttNanos) {
        if (!dropped || nowNanos - rttNanos - droppedNanos >= 0) {
            dropped = true;
            droppedNanos = nowNanos;
            dropFloor = law.shrink(limit, 0.5);
        }
        inFlightBefore = 0;
        shrunkBefore = true;
        int before = limit();
        move(Math.min(limit, towards(dropFloor, 1)), nowNanos);
        if (limit() != before) {
            restart();
        }
    }

    /** What a round came to; the variance is that of the mean. */
    private record Round(double rtt, double variance, double inFlight, boolean inUse, int samples, long nowNanos) {}

    private void close(long nowNanos) {
        double rtt = rttSum / samples;
        double variance = variance();
        boolean inUse = 2 * used >= samples;
        lastRtt = rtt;
        if (!inUse && inFlightBefore == 0 && rtt > 0 && rtt <= tolerance * noLoad) {
            // What the rest comes to while nobody needs the limit, which is most of the time.
            double change = rtt - noLoad;
            if (change * change > STANDARD_ERRORS * STANDARD_ERRORS * (variance + noLoadVariance)) {
                baseline(rtt, variance);
            }
            restart();
            return;
        }
        Round round = new Round(rtt, variance, inFlightSum / samples, inUse, samples, nowNanos);
        restart();
        if (round.rtt <= 0) {
            // Too short for the clock: no load to speak of, and no baseline either.
            grow(round);
        } else if (tried(round)) {
            shrunkBefore = shrunkBeforeTrial;
            move(limitBefore, nowNanos);
        } else {
            decide(round);
        }
    }

    /** Ends the trial, if one is on, and tells whether its cut is to be taken back. */
    private boolean tried(Round round) {
        double fewer = inFlightBefore == 0 ? 1 : round.inFlight / inFlightBefore;
        inFlightBefore = 0;
        if (fewer > (1 + TRIAL) / 2) {
            // As many came anyway: the limit was not what held them back, and nothing was tried.
            return false;
        }
        if (round.rtt < rttBefore * (1 + fewer) / 2) {
            if (round.rtt < noLoad) {
                baseline(round.rtt, round.variance);
            }
            return false;
        }
        if (Math.abs(round.rtt - noLoad) > chance(round)) {
            baseline(round.rtt, round.variance);
        } else {
            // The same as before, as far as can be told: two measurements of it are better than one.
            baseline((round.rtt + noLoad) / 2, (round.variance + noLoadVariance) / 4);
        }
        return true;
    }

    private double chance(Round round) {
        return STANDARD_ERRORS * Math.sqrt(round.variance + noLoadVariance);
    }

    private void decide(Round round) {
        double chance = chance(round);
        if (noLoad == 0 || round.rtt + chance < noLoad) {
            baseline(round.rtt, round.variance);
        }
        double gradient = Math.max(0.5, Math.min(tolerance * noLoad, noLoad + chance) / round.rtt);
        if (gradient >= 1) {
            grow(round);
        } else if (limit() <= min || (!round.inUse && round.rtt <= tolerance * noLoad)) {
            // Nothing less can be asked of the server than this.
            baseline(round.rtt, round.variance);
        } else {
            shrink(round, gradient);
        }
    }

    private void grow(Round round) {
        if (round.inUse) {
            move(towards(law.grow(limit, round.samples, shrunkBefore), round.samples), round.nowNanos);
        }
    }

    private void shrink(Round round, double gradient) {
        double next = towards(law.shrink(limit, gradient), round.samples);
        if (!round.inUse) {
            // It may not grow, and lowering it holds nobody back, so that there is nothing to learn from it.
            next = Math.min(limit, next);
        } else {
            if (next > TRIAL * limit && sinceTrial >= Math.max(rttWindow, 10 * Math.max(round.samples, limit))) {
                next = PROBE * limit;
            }
            if (next <= TRIAL * limit) {
                shrunkBeforeTrial = shrunkBefore;
                limitBefore = limit;
                rttBefore = round.rtt;
                inFlightBefore = round.inFlight;
                sinceTrial = 0;
            }
        }
        shrunkBefore = true;
        move(next, round.nowNanos);
    }

    private double towards(double target, int samples) {
        return limit + law.weight(samples) * (target - limit);
    }

    private void baseline(double rtt, double variance) {
        noLoad = rtt;
        noLoadVariance = variance;
    }

    private void move(double next, long nowNanos) {
        int before = limit();
        limit = Math.max(min, Math.min(max, next));
        if (limit() != before) {
            settling = true;
            settledNanos = nowNanos + (long) (SETTLE * lastRtt);
        }
    }

    private void restart() {
        samples = 0;
        used = 0;
        rttSum = 0;
        rttSquares = 0;
        inFlightSum = 0;
    }
}
