package io.throttlekit.redis;

import io.throttlekit.Strategy;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.Quota;
import io.throttlekit.strategy.SlidingWindow;
import io.throttlekit.strategy.SlidingWindowLog;
import io.throttlekit.strategy.TokenBucket;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.stream.Stream;

/** Along random timelines, the programs decide as the functions do; also where products need more than 53 bits. */
class ProgramLawsTest extends Conformance.Laws {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration DAY = Duration.ofDays(1);

    ProgramLawsTest() {
        super(true);
    }

    @Override
    protected int timelines() {
        return 10;
    }

    @Override
    protected int operations() {
        return 60;
    }

    @Override
    protected Stream<Strategy<?>> strategies() {
        return all();
    }

    static Stream<Strategy<?>> all() {
        return Stream.of(
                Gcra.of(27, SECOND),
                Gcra.of(2_000, SECOND).withBurst(1),
                Gcra.of(999_983, SECOND).withBurst(7),
                Gcra.of(100_000_007, DAY).withBurst(1_000_003),
                Gcra.of(new BigDecimal("9999999.89"), DAY).withBurst(97),
                TokenBucket.of(5, 5, SECOND),
                TokenBucket.of(100, 999, Duration.ofSeconds(7)),
                TokenBucket.of(3, new BigDecimal("0.3"), SECOND),
                TokenBucket.of(9_000_000, 7_777_777, Duration.ofSeconds(999_983)),
                TokenBucket.of(1L << 50, (1L << 52) + 1, Duration.ofNanos(3_000)),
                FixedWindow.of(5, Duration.ofSeconds(7)),
                FixedWindow.of(Strategy.MAX_COST - 1, Duration.ofMillis(1)),
                SlidingWindow.of(10, SECOND),
                SlidingWindow.of(997, Duration.ofMillis(250), 7),
                SlidingWindow.of(3, Duration.ofSeconds(7), 1),
                SlidingWindow.of(1_000_000_007, Duration.ofDays(40), 999),
                SlidingWindow.of((1L << 40) + 1, Duration.ofMillis(1 << 20), 3),
                SlidingWindowLog.of(5, Duration.ofSeconds(60)),
                SlidingWindowLog.of(40, Duration.ofMillis(40)),
                Quota.monthly(10).in(ZoneId.of("Asia/Beirut")),
                Quota.daily(500).in(ZoneId.of("America/Havana")),
                Quota.fixed(10, Duration.ofSeconds(5)).anchoredAt(Instant.ofEpochMilli(4_000_000_000_123L)),
                Quota.rolling(7, Duration.ofDays(30)));
    }
}
