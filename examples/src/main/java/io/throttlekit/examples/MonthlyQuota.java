package io.throttlekit.examples;

import io.throttlekit.Decision;
import io.throttlekit.ManualClock;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.strategy.Quota;
import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;

/**
 * A quota per calendar month of a time zone, at the end of the month that summer time began in.
 *
 * <p>It prints
 *
 * <pre>{@code
 * 2026-03-31T23:59:58+02:00[Europe/Berlin] allowed, 2 left
 * 2026-03-31T23:59:58+02:00[Europe/Berlin] allowed, 1 left
 * 2026-03-31T23:59:58+02:00[Europe/Berlin] allowed, 0 left
 * 2026-03-31T23:59:58+02:00[Europe/Berlin] denied for PT2S, until 2026-04-01T00:00+02:00[Europe/Berlin]
 * 2026-04-01T00:00+02:00[Europe/Berlin] allowed, 2 left
 * }</pre>
 */
public final class MonthlyQuota {
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

    private MonthlyQuota() {}

    /**
     * Runs once and ends.
     *
     * @param args none
     */
    public static void main(String[] args) {
        run(System.out);
    }

    static void run(PrintStream out) {
        long start = ZonedDateTime.of(2026, 3, 31, 23, 59, 58, 0, BERLIN).toEpochSecond() * 1_000_000;
        ManualClock clock = ManualClock.at(start);
        Limiter limiter =
                Limiter.builder(Quota.monthly(3).in(BERLIN)).clock(clock).build();
        for (int i = 0; i < 4; i++) {
            out.println(describe(limiter.checkSync("ann")));
        }
        clock.advance(Duration.ofSeconds(2));
        out.println(describe(limiter.checkSync("ann")));
        limiter.close().block();
    }

    private static String describe(Decision decision) {
        String now = inBerlin(decision.decidedAtMs());
        return decision.allowed()
                ? now + " allowed, " + decision.remaining() + " left"
                : now + " denied for " + decision.retryAfter() + ", until " + inBerlin(decision.resetAtMs());
    }

    private static String inBerlin(long epochMs) {
        return Instant.ofEpochMilli(epochMs).atZone(BERLIN).toString();
    }
}
