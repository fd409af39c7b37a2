package io.throttlekit;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * What a limiter decided for one request: a value, whether it says yes or no.
 *
 * <p>Instants are epoch milliseconds and waits are milliseconds, both rounded up and saturating at
 * 2<sup>53</sup>&nbsp;&minus;&nbsp;1. All of them come from the clock of the store that decided, so they
 * are to be compared with {@link #decidedAtMs()} and not with a clock of the reader's.
 */
public final class Decision {
    private static final long MAX_MS = (1L << 53) - 1;

    // `granted` is 0 on a denial and `retryAfterMs` is 0 on an allow, so one field holds both: the
    // object stays at 56 bytes, which matters because it is all that a check in memory allocates.
    private final long grantedOrWait;
    private final long limit;
    private final long remaining;
    // Rounded to milliseconds when somebody asks: most callers look at `allowed` alone.
    private final long resetAtMicros;
    private final long decidedAtMicros;
    private final boolean allowed;
    private final boolean exceedsLimit;

    private Decision(
            boolean allowed,
            boolean exceedsLimit,
            long grantedOrWait,
            long limit,
            long remaining,
            long resetAtMicros,
            long decidedAtMicros) {
        this.allowed = allowed;
        this.exceedsLimit = exceedsLimit;
        this.grantedOrWait = grantedOrWait;
        this.limit = limit;
        this.remaining = remaining;
        this.resetAtMicros = resetAtMicros;
        this.decidedAtMicros = decidedAtMicros;
    }

    /**
     * An allow.
     *
     * @param granted units taken, 0 for a peek
     * @param limit the strategy's limit
     * @param remaining units that could still be granted now
     * @param resetAtMs when the key is as good as new, epoch ms
     * @param decidedAtMs the deciding clock, epoch ms
     * @return the decision
     */
    public static Decision allowed(long granted, long limit, long remaining, long resetAtMs, long decidedAtMs) {
        return allowedAt(granted, limit, remaining, toMicros(resetAtMs), toMicros(decidedAtMs));
    }

    /**
     * An allow whose instants are microseconds, to be rounded up when they are read.
     *
     * @param granted units taken, 0 for a peek
     * @param limit the strategy's limit
     * @param remaining units that could still be granted now
     * @param resetAtMicros when the key is as good as new, epoch microseconds
     * @param decidedAtMicros the deciding clock, epoch microseconds
     * @return the decision
     */
    public static Decision allowedAt(
            long granted, long limit, long remaining, long resetAtMicros, long decidedAtMicros) {
        return new Decision(true, false, granted, limit, remaining, resetAtMicros, decidedAtMicros);
    }

    /**
     * A denial.
     *
     * @param cost units that were asked for; above {@code limit} the decision {@link #exceedsLimit()}
     * @param limit the strategy's limit
     * @param remaining units that could be granted now
     * @param resetAtMs when the key is as good as new, epoch ms
     * @param retryAfterMs the exact wait after which the same request, alone, succeeds
     * @param decidedAtMs the deciding clock, epoch ms
     * @return the decision
     */
    public static Decision denied(
            long cost, long limit, long remaining, long resetAtMs, long retryAfterMs, long decidedAtMs) {
        return deniedAt(cost, limit, remaining, toMicros(resetAtMs), retryAfterMs, toMicros(decidedAtMs));
    }

    /**
     * A denial whose instants are microseconds, to be rounded up when they are read.
     *
     * @param cost units that were asked for; above {@code limit} the decision {@link #exceedsLimit()}
     * @param limit the strategy's limit
     * @param remaining units that could be granted now
     * @param resetAtMicros when the key is as good as new, epoch microseconds
     * @param retryAfterMs the exact wait after which the same request, alone, succeeds
     * @param decidedAtMicros the deciding clock, epoch microseconds
     * @return the decision
     */
    public static Decision deniedAt(
            long cost, long limit, long remaining, long resetAtMicros, long retryAfterMs, long decidedAtMicros) {
        return new Decision(false, cost > limit, retryAfterMs, limit, remaining, resetAtMicros, decidedAtMicros);
    }

    private static long toMicros(long ms) {
        return TimeUnit.MILLISECONDS.toMicros(ms);
    }

    private static long toMs(long micros) {
        return Math.min(MAX_MS, -Math.floorDiv(-micros, 1000L));
    }

    /**
     * Whether the request may go on.
     *
     * @return true for an allow
     */
    public boolean allowed() {
        return allowed;
    }

    /**
     * Units taken from the key: the cost, or for a range what could be had of it.
     *
     * @return 0 when denied, and for a peek
     */
    public long granted() {
        return allowed ? grantedOrWait : 0;
    }

    /**
     * The most units one request can ever get: {@code burst}, {@code capacity} or {@code limit}.
     *
     * @return the strategy's limit
     */
    public long limit() {
        return limit;
    }

    /**
     * Units that could be granted at {@link #decidedAtMs()}, after this decision.
     *
     * @return at least 0
     */
    public long remaining() {
        return remaining;
    }

    /**
     * When the key will be as if never used, if nothing more is taken.
     *
     * @return epoch milliseconds, rounded up
     */
    public long resetAtMs() {
        return toMs(resetAtMicros);
    }

    /**
     * The wait after which the same request, alone, succeeds; one millisecond sooner it does not.
     *
     * @return 0 when allowed, else at least 1; of no use when {@link #exceedsLimit()}
     */
    public long retryAfterMs() {
        return allowed ? 0 : grantedOrWait;
    }

    /**
     * {@link #retryAfterMs()} as a duration.
     *
     * @return zero when allowed
     */
    public Duration retryAfter() {
        return Duration.ofMillis(retryAfterMs());
    }

    /**
     * The clock of the store at the decision.
     *
     * @return epoch milliseconds, rounded up
     */
    public long decidedAtMs() {
        return toMs(decidedAtMicros);
    }

    /**
     * Whether the request asked for more than the limit, so that no wait can ever make it succeed.
     *
     * @return true only on a denial
     */
    public boolean exceedsLimit() {
        return exceedsLimit;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Decision d
                && allowed == d.allowed
                && exceedsLimit == d.exceedsLimit
                && grantedOrWait == d.grantedOrWait
                && limit == d.limit
                && remaining == d.remaining
                && resetAtMs() == d.resetAtMs()
                && decidedAtMs() == d.decidedAtMs();
    }

    @Override
    public int hashCode() {
        int hash = Boolean.hashCode(allowed);
        hash = 31 * hash + Boolean.hashCode(exceedsLimit);
        hash = 31 * hash + Long.hashCode(grantedOrWait);
        hash = 31 * hash + Long.hashCode(limit);
        hash = 31 * hash + Long.hashCode(remaining);
        hash = 31 * hash + Long.hashCode(resetAtMs());
        return 31 * hash + Long.hashCode(decidedAtMs());
    }

    @Override
    public String toString() {
        return "Decision[" + (allowed ? "allowed" : "denied") + ", granted=" + granted() + ", limit=" + limit
                + ", remaining=" + remaining + ", resetAtMs=" + resetAtMs() + ", retryAfterMs=" + retryAfterMs()
                + ", decidedAtMs=" + decidedAtMs() + (exceedsLimit ? ", exceedsLimit" : "") + "]";
    }
}
