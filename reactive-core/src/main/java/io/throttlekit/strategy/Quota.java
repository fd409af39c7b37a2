package io.throttlekit.strategy;

import io.throttlekit.Decision;
import io.throttlekit.Forecast;
import io.throttlekit.Strategy;
import io.throttlekit.Transform;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * At most {@code limit} units per calendar month, week or day in a time zone, or per fixed period from an
 * anchor.
 *
 * <p>A calendar boundary is {@code LocalDate.atStartOfDay(zone)} with the rules of the IANA database that
 * comes with the JVM, daylight saving included.
 *
 * <pre>{@code
 * Quota.monthly(10_000);                                          // UTC
 * Quota.daily(500).in(ZoneId.of("Africa/Cairo"));
 * Quota.weekly(2_000).startingOn(DayOfWeek.SUNDAY);
 * Quota.fixed(100, Duration.ofDays(30)).anchoredAt(subscribedAt);
 * Quota.rolling(100, Duration.ofDays(30));                        // a sliding window by this name
 * }</pre>
 */
public final class Quota implements Strategy<WindowState> {
    private static final String NAME = "quota";

    private final Counter counter;
    private final Periods.@Nullable Unit unit;
    private final ZoneId zone;
    private final DayOfWeek firstDay;
    private final @Nullable Duration period;

    private Quota(long limit, Periods.Unit unit, ZoneId zone, DayOfWeek firstDay) {
        this.counter = new Counter(NAME, limit, new Periods.Calendar(unit, zone, firstDay));
        this.unit = unit;
        this.zone = zone;
        this.firstDay = firstDay;
        this.period = null;
    }

    private Quota(long limit, Duration period, long anchorMs) {
        long periodMs = Exact.windowMs("period", period);
        this.counter = new Counter(NAME, limit, new Periods.Fixed(periodMs, anchorMs));
        this.unit = null;
        this.zone = ZoneOffset.UTC;
        this.firstDay = DayOfWeek.MONDAY;
        this.period = period;
    }

    /**
     * Per calendar month, in UTC until {@link #in} says otherwise.
     *
     * @param limit at least 1
     * @return the strategy
     * @throws IllegalArgumentException if the limit is out of range
     */
    public static Quota monthly(long limit) {
        return new Quota(limit, Periods.Unit.MONTH, ZoneOffset.UTC, DayOfWeek.MONDAY);
    }

    /**
     * Per calendar week, from Monday and in UTC until {@link #startingOn} and {@link #in} say otherwise.
     *
     * @param limit at least 1
     * @return the strategy
     * @throws IllegalArgumentException if the limit is out of range
     */
    public static Quota weekly(long limit) {
        return new Quota(limit, Periods.Unit.WEEK, ZoneOffset.UTC, DayOfWeek.MONDAY);
    }

    /**
     * Per calendar day, in UTC until {@link #in} says otherwise.
     *
     * @param limit at least 1
     * @return the strategy
     * @throws IllegalArgumentException if the limit is out of range
     */
    public static Quota daily(long limit) {
        return new Quota(limit, Periods.Unit.DAY, ZoneOffset.UTC, DayOfWeek.MONDAY);
    }

    /**
     * Per fixed period, counted from the epoch until {@link #anchoredAt} says otherwise.
     *
     * @param limit at least 1
     * @param period whole milliseconds, more than 0
     * @return the strategy
     * @throws IllegalArgumentException if a value is out of range
     */
    public static Quota fixed(long limit, Duration period) {
        return new Quota(limit, period, 0);
    }

    /**
     * Over any period of this length, in 10 buckets: a {@link SlidingWindow} by the name of a quota.
     *
     * @param limit at least 1
     * @param period whole milliseconds, more than 0
     * @return the strategy
     * @throws IllegalArgumentException if a value is out of range or cannot be kept exact
     */
    public static SlidingWindow rolling(long limit, Duration period) {
        return rolling(limit, period, SlidingWindow.DEFAULT_BUCKETS);
    }

    /**
     * Over any period of this length.
     *
     * @param limit at least 1
     * @param period whole milliseconds, more than 0
     * @param buckets at least 1
     * @return the strategy
     * @throws IllegalArgumentException if a value is out of range or cannot be kept exact
     */
    public static SlidingWindow rolling(long limit, Duration period, int buckets) {
        return new SlidingWindow(NAME, limit, period, buckets);
    }

    /**
     * The same calendar quota in another time zone.
     *
     * @param zone an IANA zone or an offset
     * @return a new strategy
     * @throws IllegalStateException if this is no calendar quota
     */
    public Quota in(ZoneId zone) {
        return new Quota(counter.limit(), calendar("in(zone)"), Objects.requireNonNull(zone, "zone"), firstDay);
    }

    /**
     * The same weekly quota with weeks that start on another day.
     *
     * @param firstDay the first day of a week
     * @return a new strategy
     * @throws IllegalStateException if this is no weekly quota
     */
    public Quota startingOn(DayOfWeek firstDay) {
        if (unit != Periods.Unit.WEEK) {
            throw new IllegalStateException("startingOn(day) is for a weekly quota");
        }
        return new Quota(counter.limit(), unit, zone, Objects.requireNonNull(firstDay, "firstDay"));
    }

    /**
     * The same fixed quota counted from another instant.
     *
     * @param anchor a boundary of the periods, past or future; whole milliseconds, finer parts are dropped
     * @return a new strategy
     * @throws IllegalArgumentException if it is more than 2<sup>52</sup> ms from the epoch
     * @throws IllegalStateException if this is no fixed quota
     */
    public Quota anchoredAt(Instant anchor) {
        if (period == null) {
            throw new IllegalStateException("anchoredAt(instant) is for a fixed quota");
        }
        Instant most = Instant.ofEpochMilli(Exact.MAX_SPAN_MICROS);
        Instant least = Instant.ofEpochMilli(-Exact.MAX_SPAN_MICROS);
        if (anchor.isBefore(least) || anchor.truncatedTo(ChronoUnit.MILLIS).isAfter(most)) {
            throw new IllegalArgumentException("anchor must be within 2^52 ms of the epoch, was " + anchor);
        }
        return new Quota(counter.limit(), period, anchor.toEpochMilli());
    }

    private Periods.Unit calendar(String what) {
        if (unit == null) {
            throw new IllegalStateException(what + " is for a calendar quota");
        }
        return unit;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public long limit() {
        return counter.limit();
    }

    /** The period of a fixed quota; calendar periods differ in length and have no constant window. */
    @Override
    public @Nullable Duration window() {
        return period;
    }

    @Override
    public Transform<WindowState, Decision> check(long min, long max) {
        return counter.check(min, max);
    }

    @Override
    public Transform<WindowState, Decision> peek() {
        return counter.peek();
    }

    @Override
    public Transform<WindowState, Forecast> forecast(long cost) {
        return counter.forecast(cost);
    }

    @Override
    public Transform<WindowState, Boolean> refund(long cost, @Nullable Decision charged) {
        return counter.refund(cost, charged);
    }
}
