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
 *       rounds. After a change somewhat more than a mean RTT passes unheeded, then 10 to 100 samples are averaged, or up to
 *       400 if they vary much, then the limit moves once; drops of requests that were admitted before the last cut count with that cut and
 *       together take at most half. TCP does the same (RFC 5681, RFC 6582: once per window of data).
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

    // The last cut for drops, and what the drops of requests admitted before it may lower the limit to.
    private double lastRtt;
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

    /** Whether the standard error of the mean is small against it. */
    private boolean isPrecise() {
        return variance() * samples * samples <= PRECISION * PRECISION * rttSum * rttSum;
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
        move(Math.min(limit, limit + law.weight(1) * (dropFloor - limit)), nowNanos);
        if (limit() != before) {
            restart();
        }
    }

    private void close(long nowNanos) {
        double rtt = rttSum / samples;
        double variance = variance();
        double inFlight = inFlightSum / samples;
        boolean inUse = 2 * used >= samples;
        int count = samples;
        restart();
        lastRtt = rtt;
        if (rtt <= 0) {
            // Too short for the clock: no load to speak of, and no baseline either.
            move(inUse ? law.grow(limit, count, shrunkBefore) : limit, nowNanos);
        } else if (tried(rtt, variance, inFlight)) {
            move(limitBefore, nowNanos);
        } else {
            decide(rtt, variance, inFlight, inUse, count, nowNanos);
        }
    }

    /** Ends the trial, if one is on, and tells whether the cut is to be taken back. */
    private boolean tried(double rtt, double variance, double inFlight) {
        double fewer = inFlightBefore == 0 ? 1 : inFlight / inFlightBefore;
        inFlightBefore = 0;
        if (fewer > (1 + TRIAL) / 2) {
            // As many came anyway: the limit was not what held them back, and nothing was tried.
            return false;
        }
        if (rtt < rttBefore * (1 + fewer) / 2) {
            if (rtt < noLoad) {
                baseline(rtt, variance);
            }
            return false;
        }
        if (Math.abs(rtt - noLoad) > chance(variance)) {
            baseline(rtt, variance);
        } else {
            // The same as before, as far as can be told: two measurements of it are better than one.
            baseline((rtt + noLoad) / 2, (variance + noLoadVariance) / 4);
        }
        shrunkBefore = shrunkBeforeTrial;
        return true;
    }

    private double chance(double variance) {
        return STANDARD_ERRORS * Math.sqrt(variance + noLoadVariance);
    }

    private void decide(double rtt, double variance, double inFlight, boolean inUse, int count, long nowNanos) {
        double chance = chance(variance);
        if (noLoad == 0 || rtt + chance < noLoad) {
            baseline(rtt, variance);
        }
        double gradient = Math.max(0.5, Math.min(tolerance * noLoad, noLoad + chance) / rtt);
        if (gradient >= 1) {
            if (inUse) {
                move(limit + law.weight(count) * (law.grow(limit, count, shrunkBefore) - limit), nowNanos);
            }
            return;
        }
        if (limit() <= min || (!inUse && rtt <= tolerance * noLoad)) {
            // Nothing less can be asked of the server than this.
            baseline(rtt, variance);
            return;
        }
        boolean before = shrunkBefore;
        shrunkBefore = true;
        double next = limit + law.weight(count) * (law.shrink(limit, gradient) - limit);
        if (!inUse) {
            move(Math.min(limit, next), nowNanos);
            return;
        }
        if (next > TRIAL * limit && sinceTrial >= Math.max(rttWindow, 10 * Math.max(count, limit))) {
            next = PROBE * limit;
        }
        if (next <= TRIAL * limit) {
            shrunkBeforeTrial = before;
            limitBefore = limit;
            rttBefore = rtt;
            inFlightBefore = inFlight;
            sinceTrial = 0;
        }
        move(next, nowNanos);
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
