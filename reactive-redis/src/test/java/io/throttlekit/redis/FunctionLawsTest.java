package io.throttlekit.redis;

import io.throttlekit.Strategy;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.Quota;
import io.throttlekit.strategy.SlidingWindow;
import io.throttlekit.strategy.SlidingWindowLog;
import io.throttlekit.strategy.TokenBucket;
import java.time.Duration;
import java.util.stream.Stream;

/** Along random timelines, the states that the store keeps lead to the decisions of the functions. */
class FunctionLawsTest extends Conformance.Laws {
    private static final Duration SECOND = Duration.ofSeconds(1);

    FunctionLawsTest() {
        super(false);
    }

    @Override
    protected int operations() {
        return 100;
    }

    @Override
    protected Stream<Strategy<?>> strategies() {
        return Stream.of(
                Gcra.of(999_983, SECOND).withBurst(7),
                TokenBucket.of(100, 999, Duration.ofSeconds(7)),
                SlidingWindow.of(997, Duration.ofMillis(250), 7),
                SlidingWindowLog.of(40, Duration.ofMillis(40)),
                Quota.daily(500));
    }
}
