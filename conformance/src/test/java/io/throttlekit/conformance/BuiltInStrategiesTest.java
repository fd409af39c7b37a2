package io.throttlekit.conformance;

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

/** Every strategy of this library keeps the laws, and so does one of a user's. */
class BuiltInStrategiesTest extends StrategyConformance {
    private static final Duration SECOND = Duration.ofSeconds(1);

    @Override
    protected Stream<Strategy<?>> strategies() {
        return Stream.of(
                Gcra.of(27, SECOND),
                Gcra.of(2_000, SECOND).withBurst(1),
                Gcra.of(999_983, SECOND).withBurst(7),
                Gcra.perSecond(1.67).withBurst(5),
                Gcra.of(new BigDecimal("0.1"), SECOND),
                TokenBucket.of(5, 5, SECOND),
                TokenBucket.of(100, 999, Duration.ofSeconds(7)),
                TokenBucket.of(3, new BigDecimal("0.3"), SECOND),
                FixedWindow.of(5, Duration.ofSeconds(7)),
                FixedWindow.of(1, Duration.ofMillis(1)),
                SlidingWindow.of(10, SECOND),
                SlidingWindow.of(997, Duration.ofMillis(250), 7),
                SlidingWindow.of(3, Duration.ofSeconds(7), 1),
                SlidingWindow.of(1, Duration.ofMillis(7), 10),
                SlidingWindowLog.of(5, Duration.ofSeconds(60)),
                SlidingWindowLog.of(40, Duration.ofMillis(40)),
                Quota.monthly(10).in(ZoneId.of("Asia/Beirut")),
                Quota.weekly(3).in(ZoneId.of("Africa/Cairo")),
                Quota.daily(500).in(ZoneId.of("America/Havana")),
                Quota.fixed(10, Duration.ofSeconds(5)).anchoredAt(Instant.ofEpochMilli(4_000_000_000_123L)),
                Quota.rolling(7, Duration.ofDays(30)),
                LastHit.strategy(10));
    }
}
