package io.throttlekit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.test.scheduler.VirtualTimeScheduler;

class ClockTest {
    @Test
    void schedulerClockMovesWithVirtualTime() {
        VirtualTimeScheduler scheduler = VirtualTimeScheduler.create();
        Clock clock = Clock.of(scheduler);
        long epoch = clock.epochMicros();
        long nanos = clock.monotonicNanos();

        scheduler.advanceTimeBy(Duration.ofNanos(1_234_567));

        assertThat(clock.epochMicros() - epoch).isEqualTo(1_234);
        assertThat(clock.monotonicNanos() - nanos).isEqualTo(1_234_567);
        scheduler.dispose();
    }

    @Test
    void manualClockAdvancesBothReadingsAndSetsTheTimeOfDayAlone() {
        ManualClock clock = ManualClock.at(-5);

        clock.advance(Duration.ofDays(300 * 365));

        assertThat(clock.epochMicros()).isEqualTo(300L * 365 * 86_400_000_000L - 5);
        long nanos = clock.monotonicNanos();

        clock.set(7);

        assertThat(clock.epochMicros()).isEqualTo(7);
        assertThat(clock.monotonicNanos()).isEqualTo(nanos);
    }

    @Test
    void manualClockRefusesToGoBackByAdvancing() {
        ManualClock clock = ManualClock.at(0);

        assertThatThrownBy(() -> clock.advance(Duration.ofMillis(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("-0.001S");
        assertThatThrownBy(() -> clock.advance(Duration.ofNanos(1))).isInstanceOf(IllegalArgumentException.class);
    }
}
