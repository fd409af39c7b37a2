package io.throttlekit.strategy;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Where the periods of a quota begin and end: a boundary belongs to the period that it begins. */
class QuotaPeriodsTest {
    private static long ms(String instant) {
        return Instant.parse(instant).toEpochMilli();
    }

    private static WindowState periodAt(Quota quota, long ms) {
        return Objects.requireNonNull(quota.check(1, 1).step(null, ms * 1000).state());
    }

    /** The period holds its first and its last millisecond, and neither the one before nor the one after. */
    private static void hasPeriod(Quota quota, String start, String end) {
        WindowState period = new WindowState(ms(start), ms(end), 1);

        assertThat(periodAt(quota, ms(start))).isEqualTo(period);
        assertThat(periodAt(quota, ms(end) - 1)).isEqualTo(period);
        assertThat(periodAt(quota, ms(start) - 1).resetMs()).isEqualTo(ms(start));
        assertThat(periodAt(quota, ms(end)).startMs()).isEqualTo(ms(end));
        assertThat(periodAt(quota, (ms(start) + ms(end)) / 2)).isEqualTo(period);
    }

    @Test
    void calendarIsOfUtcUntilAZoneIsNamed() {
        hasPeriod(Quota.monthly(5), "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z");
        hasPeriod(Quota.weekly(5), "2026-03-02T00:00:00Z", "2026-03-09T00:00:00Z");
        hasPeriod(Quota.daily(5), "1969-12-31T00:00:00Z", "1970-01-01T00:00:00Z");
    }

    @Test
    void monthIsAsLongAsItIs() {
        Quota quota = Quota.monthly(5).in(ZoneId.of("America/New_York"));

        hasPeriod(quota, "2028-02-01T05:00:00Z", "2028-03-01T05:00:00Z");
        hasPeriod(quota, "2028-03-01T05:00:00Z", "2028-04-01T04:00:00Z");
        hasPeriod(quota, "2028-12-01T05:00:00Z", "2029-01-01T05:00:00Z");
    }

    @Test
    void weekStartsOnTheDayThatWasChosen() {
        Quota quota = Quota.weekly(5).startingOn(DayOfWeek.SUNDAY).in(ZoneId.of("Europe/Berlin"));

        hasPeriod(quota, "2026-03-21T23:00:00Z", "2026-03-28T23:00:00Z");
        hasPeriod(quota, "2026-03-28T23:00:00Z", "2026-04-04T22:00:00Z");
    }

    @Test
    void dayHas23Or25HoursWhenTheClocksChange() {
        Quota quota = Quota.daily(5).in(ZoneId.of("Europe/Berlin"));

        hasPeriod(quota, "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z");
        hasPeriod(quota, "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z");
    }

    @Test
    void dayThatHasBegunIsNotLeftWhenTheClocksAreSetBackAcrossMidnight() {
        // At 00:01 on November 7 it was 23:01 on November 6 again, until a second midnight at 04:00Z.
        Quota quota = Quota.daily(5).in(ZoneId.of("America/Goose_Bay"));

        for (String second : new String[] {"2010-11-07T03:01:00Z", "2010-11-07T03:59:59Z"}) {
            // A quota of its own, which has not seen the day before.
            assertThat(periodAt(quota.in(ZoneId.of("America/Goose_Bay")), ms(second)))
                    .isEqualTo(new WindowState(ms("2010-11-07T03:00:00Z"), ms("2010-11-08T04:00:00Z"), 1));
        }
        hasPeriod(quota, "2010-11-07T03:00:00Z", "2010-11-08T04:00:00Z");
    }

    @Test
    void dayThatDoesNotExistIsNoPeriod() {
        // Samoa went from December 29 to December 31.
        Quota quota = Quota.daily(5).in(ZoneId.of("Pacific/Apia"));

        hasPeriod(quota, "2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z");
        hasPeriod(quota, "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z");
    }

    @Test
    void fixedPeriodsAreCountedFromTheirAnchorInBothDirections() {
        Quota quota = Quota.fixed(5, Duration.ofDays(30)).anchoredAt(Instant.parse("2026-01-15T12:00:00.000999Z"));

        hasPeriod(Quota.fixed(5, Duration.ofHours(1)), "1969-12-31T23:00:00Z", "1970-01-01T00:00:00Z");
        hasPeriod(quota, "2026-01-15T12:00:00Z", "2026-02-14T12:00:00Z");
        hasPeriod(quota, "2025-12-16T12:00:00Z", "2026-01-15T12:00:00Z");
    }
}
