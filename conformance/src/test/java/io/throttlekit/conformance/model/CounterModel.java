package io.throttlekit.conformance.model;

import java.math.BigInteger;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A count per period: fixed windows and quotas. */
public final class CounterModel extends Model {
    /** How periods follow each other. */
    public interface Periods {
        /** The start of the period that an instant is in, epoch ms. */
        BigInteger start(BigInteger ms);

        /** The start of the next period. */
        BigInteger end(BigInteger start);
    }

    private record State(BigInteger start, BigInteger count) {}

    private final Periods periods;
    private @Nullable State state;

    /** A key that was never used. */
    public CounterModel(long limit, Periods periods) {
        super(limit);
        this.periods = periods;
    }

    /** Equal periods from an anchor. */
    public static Periods fixed(long periodMs, long anchorMs) {
        BigInteger period = BigInteger.valueOf(periodMs);
        BigInteger anchor = BigInteger.valueOf(anchorMs);
        return new Periods() {
            @Override
            public BigInteger start(BigInteger ms) {
                BigInteger turns = new Ratio(ms.subtract(anchor), period).floor();
                return anchor.add(turns.multiply(period));
            }

            @Override
            public BigInteger end(BigInteger start) {
                return start.add(period);
            }
        };
    }

    /** Days of a zone. */
    public static Periods days(ZoneId zone) {
        return calendar(zone, date -> date, date -> date.plusDays(1));
    }

    /** Weeks of a zone. */
    public static Periods weeks(ZoneId zone, DayOfWeek first) {
        return calendar(
                zone,
                date -> {
                    LocalDate day = date;
                    while (day.getDayOfWeek() != first) {
                        day = day.minusDays(1);
                    }
                    return day;
                },
                date -> date.plusDays(7));
    }

    /** Months of a zone. */
    public static Periods months(ZoneId zone) {
        return calendar(zone, date -> LocalDate.of(date.getYear(), date.getMonth(), 1), date -> date.plusMonths(1));
    }

    private static Periods calendar(ZoneId zone, UnaryOperator<LocalDate> first, UnaryOperator<LocalDate> next) {
        return new Periods() {
            private long boundary(LocalDate date) {
                return date.atStartOfDay(zone).toInstant().toEpochMilli();
            }

            /** Walks from well before the instant to the last boundary that is not after it. */
            @Override
            public BigInteger start(BigInteger ms) {
                long at = ms.longValueExact();
                LocalDate date = first.apply(
                        LocalDate.ofInstant(Instant.ofEpochMilli(at), zone).minusDays(3));
                long found = boundary(date);
                for (LocalDate d = date; boundary(d) <= at; d = next.apply(d)) {
                    found = boundary(d);
                }
                return BigInteger.valueOf(found);
            }

            @Override
            public BigInteger end(BigInteger start) {
                LocalDate date = first.apply(LocalDate.ofInstant(Instant.ofEpochMilli(start.longValueExact()), zone)
                        .minusDays(3));
                while (boundary(date) <= start.longValueExact()) {
                    date = next.apply(date);
                }
                return BigInteger.valueOf(boundary(date));
            }
        };
    }

    private State at(long nowMicros) {
        BigInteger start = periods.start(floorMs(nowMicros));
        return state == null || state.start.compareTo(start) < 0 ? new State(start, BigInteger.ZERO) : state;
    }

    @Override
    BigInteger available(long nowMicros) {
        return BigInteger.valueOf(limit()).subtract(at(nowMicros).count);
    }

    @Override
    void take(long nowMicros, long units) {
        State at = at(nowMicros);
        state = new State(at.start, at.count.add(BigInteger.valueOf(units)));
    }

    @Override
    BigInteger resetAtMs(long nowMicros) {
        return periods.end(at(nowMicros).start);
    }

    @Override
    BigInteger waitMs(long nowMicros, long cost) {
        BigInteger micros = resetAtMs(nowMicros).multiply(BigInteger.valueOf(1000));
        return ms(new Ratio(micros, BigInteger.ONE).minus(nowMicros));
    }

    @Override
    BigInteger nextReplenishAtMs(long nowMicros) {
        return at(nowMicros).count.signum() == 0 ? ms(Ratio.of(nowMicros)) : resetAtMs(nowMicros);
    }

    @Override
    BigInteger fullAtMs(long nowMicros) {
        return nextReplenishAtMs(nowMicros);
    }

    @Override
    public void refund(long nowMicros, long cost, @Nullable Long resetAtMs) {
        State at = at(nowMicros);
        boolean thisWindow = resetAtMs == null || resetAtMs(nowMicros).equals(BigInteger.valueOf(resetAtMs));
        if (thisWindow && at.count.signum() > 0) {
            state = new State(
                    at.start, at.count.subtract(BigInteger.valueOf(cost)).max(BigInteger.ZERO));
        }
    }
}
