package io.throttlekit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SystemClockTest {
    private static final long HOUR = Duration.ofHours(1).toNanos() / 1000;

    /** A system clock whose wall and monotonic reading stand where the test puts them. */
    private static final class Fake extends SystemClock {
        private static long startWall = 1_700_000_000_000_000L;
        private static long startNanos;

        private @Nullable Long wall;
        private @Nullable Long nanos;

        static Fake startingAt(long nanos) {
            startNanos = nanos;
            return new Fake();
        }

        @Override
        long wallMicros() {
            return wall == null ? startWall : wall;
        }

        @Override
        public long monotonicNanos() {
            return nanos == null ? startNanos : nanos;
        }

        void pass(long micros) {
            nanos = monotonicNanos() + micros * 1000;
            wall = wallMicros() + micros;
        }

        void stepWall(long micros) {
            wall = wallMicros() + micros;
        }
    }

    @Test
    void tellsTheWall() {
        Clock clock = Clock.system();

        long told = clock.epochMicros();

        Instant now = Instant.now();
        long wall = now.getEpochSecond() * 1_000_000 + now.getNano() / 1000;
        assertThat(wall - told).isBetween(-1_000_000L, 1_000_000L);
    }

    @Test
    void passesWithTheMonotonicReadingFromAnyOrigin() {
        for (long origin : new long[] {Long.MIN_VALUE, -5, 0, Long.MAX_VALUE - 10_000_000, Long.MAX_VALUE}) {
            Fake clock = Fake.startingAt(origin);
            long start = clock.epochMicros();

            for (int i = 0; i < 100; i++) {
                clock.pass(777);
            }

            assertThat(clock.epochMicros() - start).isEqualTo(77_700);
        }
    }

    @Test
    void followsTheWallForwardAtTheNextAnchor() {
        Fake clock = Fake.startingAt(0);
        long start = clock.epochMicros();

        clock.stepWall(HOUR);
        clock.pass(1_001);

        assertThat(clock.epochMicros() - start).isEqualTo(HOUR + 1_001);
    }

    @Test
    void neverStepsBackWithTheWallAndCatchesUpAtHalfSpeed() {
        Fake clock = Fake.startingAt(0);
        long start = clock.epochMicros();
        long last = start;

        clock.stepWall(-HOUR);
        for (int i = 0; i < 7_300; i++) {
            clock.pass(1_000_000);
            long now = clock.epochMicros();
            assertThat(now).isGreaterThan(last);
            last = now;
        }

        assertThat(last).isEqualTo(clock.wallMicros());
    }
}
