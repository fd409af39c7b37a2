package io.throttlekit.limiter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.Strategy;
import java.time.Duration;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class LeaseOptionsTest {
    private static final Duration MS = Duration.ofMillis(1);
    private static final Duration YEAR = Duration.ofDays(365);

    private static void refused(ThrowingCallable call, String message) {
        assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class).hasMessage(message);
    }

    @Test
    void defaultsToAPlainBatch() {
        LeaseOptions options = LeaseOptions.batch(5);

        assertThat(options.rules(100)).isEqualTo(new Ledger.Rules(100, 5, 0, false, 10_000));
        assertThat(options.isWindowCoupled()).isFalse();
        assertThat(options.returnIdleAfter()).isNull();
        assertThat(options.deadline()).isEqualTo(Duration.ofMillis(250));
    }

    @Test
    void eachOptionKeepsTheOthers() {
        LeaseOptions options = LeaseOptions.batch(5)
                .lowWater(2)
                .windowCoupled()
                .returnIdleAfter(Duration.ofSeconds(3))
                .deadline(Duration.ofSeconds(4))
                .maxWaiters(6)
                .lowWater(1);

        assertThat(options.rules(100)).isEqualTo(new Ledger.Rules(100, 5, 1, true, 6));
        assertThat(options.isWindowCoupled()).isTrue();
        assertThat(options.returnIdleAfter()).isEqualTo(Duration.ofSeconds(3));
        assertThat(options.deadline()).isEqualTo(Duration.ofSeconds(4));
    }

    @Test
    void takesEveryValueOfItsRanges() {
        assertThat(LeaseOptions.batch(1).rules(9).batch()).isEqualTo(1);
        assertThat(LeaseOptions.batch(Strategy.MAX_COST).rules(9).batch()).isEqualTo(Strategy.MAX_COST);
        LeaseOptions options = LeaseOptions.batch(5);
        assertThat(options.lowWater(0).rules(9).lowWater()).isZero();
        assertThat(options.lowWater(5).rules(9).lowWater()).isEqualTo(5);
        assertThat(options.maxWaiters(1).rules(9).maxWaiters()).isEqualTo(1);
        for (Duration duration : new Duration[] {MS, YEAR}) {
            assertThat(options.deadline(duration).deadline()).isEqualTo(duration);
            assertThat(options.returnIdleAfter(duration).returnIdleAfter()).isEqualTo(duration);
        }
    }

    @Test
    void refusesWhatIsOutOfRangeAndSaysWhy() {
        LeaseOptions options = LeaseOptions.batch(5);

        refused(() -> LeaseOptions.batch(0), "batch must be from 1 to 9007199254740991, was 0");
        refused(
                () -> LeaseOptions.batch(Strategy.MAX_COST + 1),
                "batch must be from 1 to 9007199254740991, was 9007199254740992");
        refused(() -> options.lowWater(-1), "lowWater must be from 0 to the batch of 5, was -1");
        refused(() -> options.lowWater(6), "lowWater must be from 0 to the batch of 5, was 6");
        refused(() -> options.maxWaiters(0), "maxWaiters must be at least 1, was 0");
        refused(() -> options.deadline(MS.minusNanos(1)), "deadline must be from 1 ms to 365 days, was PT0.000999999S");
        refused(
                () -> options.deadline(YEAR.plusNanos(1)),
                "deadline must be from 1 ms to 365 days, was PT8760H0.000000001S");
        refused(
                () -> options.returnIdleAfter(Duration.ZERO),
                "returnIdleAfter must be from 1 ms to 365 days, was PT0S");
    }
}
