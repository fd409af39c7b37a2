package io.throttlekit.strategy;

import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.temporal.TemporalAdjusters;

/** How time is cut into counting periods, in epoch milliseconds; a period holds its start and not its end. */
sealed interface Periods {
    /** The start of the period that holds {@code ms}. */
    long startAt(long ms);

    /** The end of the period that starts at {@code start}. */
    long endOf(long start);

    /** Equal periods counted from an anchor, below it too. */
    record Fixed(long periodMs, long anchorMs) implements Periods {
        @Override
        public long startAt(long ms) {
            return anchorMs + Math.floorDiv(ms - anchorMs, periodMs) * periodMs;
        }

        @Override
        public long endOf(long start) {
            return start + periodMs;
        }
    }

    /** The unit of a calendar. */
    enum Unit {
        MONTH,
        WEEK,
        DAY
    }

    /**
     * Calendar periods in a time zone. A boundary is {@code LocalDate.atStartOfDay(zone)}: where midnight
     * does not exist the day starts later, and where a day does not exist it is no period at all.
     */
    final class Calendar implements Periods {
        private record Span(long start, long end) {}

        private final Unit unit;
        private final ZoneId zone;
        private final DayOfWeek firstDay;
        /** The period that was asked for last; a hint, replaced as a whole. */
        private volatile Span last = new Span(0, 0);

        Calendar(Unit unit, ZoneId zone, DayOfWeek firstDay) {
            this.unit = unit;
            this.zone = zone;
            this.firstDay = firstDay;
        }

        @Override
        public long startAt(long ms) {
            return spanAt(ms).start;
        }

        @Override
        public long endOf(long start) {
            return spanAt(start).end;
        }

        private Span spanAt(long ms) {
            Span hint = last;
            if (ms >= hint.start && ms < hint.end) {
                return hint;
            }
            // A date starts with its first instant, so the period has begun. But where clocks are set back across
            // midnight, the date of before is seen again when the next period has begun, too.
            LocalDate first = first(LocalDate.ofInstant(Instant.ofEpochMilli(ms), zone));
            LocalDate next = next(first);
            while (startOf(next) <= ms) {
                first = next;
                next = next(first);
            }
            Span span = new Span(startOf(first), startOf(next));
            last = span;
            return span;
        }

        private long startOf(LocalDate date) {
            return date.atStartOfDay(zone).toInstant().toEpochMilli();
        }

        private LocalDate first(LocalDate date) {
            return switch (unit) {
                case MONTH -> date.withDayOfMonth(1);
                case WEEK -> date.with(TemporalAdjusters.previousOrSame(firstDay));
                case DAY -> date;
            };
        }

        private LocalDate next(LocalDate first) {
            return switch (unit) {
                case MONTH -> first.plusMonths(1);
                case WEEK -> first.plusWeeks(1);
                case DAY -> first.plusDays(1);
            };
        }
    }
}
