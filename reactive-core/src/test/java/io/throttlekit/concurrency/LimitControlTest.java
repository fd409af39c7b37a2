package io.throttlekit.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LimitControlTest {
    private static final long MILLI = 1_000_000;

    private long now;

    private static LimitControl control(Law law, int initial) {
        return new LimitControl(law, 1, 1000, initial, 100, 2);
    }

    /** One after the other, so that each was admitted after the one before was done. */
    private void succeed(LimitControl control, int times, long rtt, int inFlight) {
        for (int i = 0; i < times; i++) {
            now += rtt;
            control.succeeded(now, rtt, inFlight, control.limit());
        }
    }

    @Test
    void growsBySquareRootInARound() {
        LimitControl control = control(new Gradient2(1), 100);

        succeed(control, 99, MILLI, 100);
        int before = control.limit();
        succeed(control, 1, MILLI, 100);

        assertThat(before).isEqualTo(100);
        assertThat(control.limit()).isEqualTo(110);
    }

    @Test
    void smoothsPerSample() {
        LimitControl control = control(new Gradient2(0.01), 100);

        succeed(control, 100, MILLI, 100);

        assertThat(control.limit()).isEqualTo(106);
    }

    @Test
    void doublesAtMostUntilTheFirstCutAndAddsOneAfterwards() {
        LimitControl control = control(new Aimd(0.5), 20);

        succeed(control, 20, MILLI, 20);
        int doubled = control.limit();
        control.dropped(now, MILLI);
        int halved = control.limit();
        succeed(control, 22, MILLI, 40);

        assertThat(doubled).isEqualTo(40);
        assertThat(halved).isEqualTo(20);
        assertThat(control.limit()).isEqualTo(21);
    }

    @Test
    void takesAnRttOfZeroForNoLoad() {
        LimitControl control = control(new Gradient2(1), 100);

        succeed(control, 100, 0, 100);

        assertThat(control.limit()).isEqualTo(110);
        assertThat(control.noLoadNanos()).isZero();
    }

    @Test
    void growsWhenHalfIsInUseAndNotWhenLess() {
        LimitControl half = control(new Gradient2(1), 100);
        LimitControl less = control(new Gradient2(1), 100);

        succeed(half, 100, MILLI, 50);
        succeed(less, 1000, MILLI, 49);

        assertThat(half.limit()).isEqualTo(110);
        assertThat(less.limit()).isEqualTo(100);
    }

    @Test
    void movesAFifthOfTheWayToAHalfForADrop() {
        LimitControl control = control(new Gradient2(0.2), 100);

        control.dropped(now, 0);

        assertThat(control.limit()).isEqualTo(91);
    }

    @Test
    void halvesAtMostForTheDropsOfOneGeneration() {
        LimitControl control = control(new Gradient2(0.2), 100);
        now = 1000 * MILLI;

        for (int i = 0; i < 100; i++) {
            control.dropped(now + i, 1000 * MILLI);
        }
        int once = control.limit();
        control.dropped(now + 1000 * MILLI, 999 * MILLI);

        assertThat(once).isEqualTo(55);
        assertThat(control.limit()).isLessThan(55);
    }

    @Test
    void neverGrowsForADrop() {
        for (int limit = 1; limit < 20; limit++) {
            LimitControl control = control(new Gradient2(0.2), limit);

            control.dropped(now, 0);

            assertThat(control.limit()).isLessThanOrEqualTo(limit);
        }
    }

    @Test
    void stopsGrowingAtOneAndAQuarterOfTheNoLoadRttWhereThePlainLawGoesOn() {
        LimitControl control = control(new Gradient2(0.2), 100);
        PlainGradient2 plain = new PlainGradient2(1, 1000, 100);
        succeed(control, 50, 40 * MILLI, 10);
        succeed(control, 50, 40 * MILLI, 10);
        plain.succeeded(40 * MILLI, 1);
        int most = 0;

        // A server for 80: what is above waits.
        for (int i = 0; i < 3000; i++) {
            long rtt = 40 * MILLI * Math.max(80, control.limit()) / 80;
            now += rtt / control.limit();
            control.succeeded(now, rtt, control.limit(), control.limit());
            most = Math.max(most, control.limit());
        }
        for (int i = 0; i < 90; i++) {
            plain.succeeded(50 * MILLI, plain.limit());
        }

        assertThat(most).isEqualTo(100);
        assertThat(control.limit()).isLessThan(96);
        assertThat(plain.limit()).isGreaterThan(80);
    }

    @Test
    void measuresTheNoLoadRttByMeansAndNotByTheLeast() {
        LimitControl control = control(new Gradient2(0.2), 10);

        succeed(control, 9, 10 * MILLI, 10);
        succeed(control, 31, MILLI, 10);

        assertThat(control.noLoadNanos()).isBetween(2 * MILLI, 4 * MILLI);
    }
}
