package io.throttlekit.strategy;

import static io.throttlekit.strategy.Exact.big;
import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.BigInteger;
import org.junit.jupiter.api.Test;

/** The whole-number arithmetic of the strategies gives what BigInteger gives, at the edges of a long too. */
class ExactTest {
    private static final long[] EDGES = {
        Long.MIN_VALUE, Long.MIN_VALUE + 1, -1_000_001, -1_000, -999, -1, 0, 1, 999, 1_000, 1_001, Long.MAX_VALUE
    };

    private static BigInteger floor(BigInteger x, BigInteger y) {
        BigInteger[] parts = x.divideAndRemainder(y);
        return parts[1].signum() < 0 ? parts[0].subtract(BigInteger.ONE) : parts[0];
    }

    private static BigInteger saturated(BigInteger value) {
        return value.max(big(Long.MIN_VALUE)).min(big(Long.MAX_VALUE));
    }

    @Test
    void sumsSaturateAtTheEndsOfALong() {
        for (long x : EDGES) {
            for (long y : EDGES) {
                BigInteger sum = big(x).add(big(y));

                assertThat(big(Exact.sum(x, y))).as("%d + %d", x, y).isEqualTo(saturated(sum));
                assertThat(big(Exact.saturate(sum))).isEqualTo(saturated(sum));
            }
        }
    }

    @Test
    void instantsRoundUpToMillisecondsAndSaturateWhereADoubleStopsCounting() {
        assertThat(Exact.up(0)).isZero();
        assertThat(Exact.up(1)).isEqualTo(1);
        assertThat(Exact.up(1_000)).isEqualTo(1);
        assertThat(Exact.up(1_001)).isEqualTo(2);
        assertThat(Exact.up(-1)).isZero();
        assertThat(Exact.up(-1_000)).isEqualTo(-1);
        assertThat(Exact.up(Exact.MAX_MS * 1_000)).isEqualTo(9_007_199_254_740_991L);
        assertThat(Exact.up(Long.MAX_VALUE)).isEqualTo(9_007_199_254_740_991L);
        assertThat(Exact.upOfSum(Long.MAX_VALUE, 1)).isEqualTo(9_007_199_254_740_991L);
    }

    @Test
    void quotientsRoundUp() {
        for (long x : EDGES) {
            for (long y : new long[] {1, 2, 7, 1_000, Long.MAX_VALUE}) {
                BigInteger up = floor(big(x).negate(), big(y)).negate();

                assertThat(Exact.ceilDiv(big(x), big(y))).as("%d / %d", x, y).isEqualTo(up);
                if (x != Long.MIN_VALUE) {
                    assertThat(big(Exact.ceilDiv(x, y))).as("%d / %d", x, y).isEqualTo(up);
                }
            }
        }
    }

    @Test
    void ratiosAreInLowestTerms() {
        assertThat(Exact.ratio(new BigDecimal("27"), 1_000_000)).containsExactly(big(27), big(1_000_000));
        assertThat(Exact.ratio(new BigDecimal("1.67"), 1_000_000)).containsExactly(big(167), big(100_000_000));
        assertThat(Exact.ratio(new BigDecimal("4E3"), 1_000_000)).containsExactly(big(1), big(250));
    }

    @Test
    void dividesByAMultiplicationWhateverTheDivisorIs() {
        for (int bits = 0; bits < 62; bits++) {
            for (long divisor = Math.max(1, (1L << bits) - 2); divisor <= (1L << bits) + 2; divisor++) {
                dividesBy(divisor);
            }
        }
        for (long divisor : new long[] {5, 7, 10, 97, 1_000, 60_000, 86_400_000, 999_999_999_989L}) {
            dividesBy(divisor);
        }
    }

    private static void dividesBy(long divisor) {
        Divisor by = new Divisor(divisor);
        long mostTimes = (1L << 60) / divisor;
        long[] quick = {
            0,
            1,
            divisor - 1,
            divisor,
            divisor + 1,
            mostTimes * divisor - 1,
            mostTimes * divisor,
            (1L << 60) - 1,
            1L << 60
        };
        for (long n : quick) {
            if (n >= 0 && n <= 1L << 60) {
                assertThat(by.into(n)).as("%d / %d", n, divisor).isEqualTo(n / divisor);
            }
        }
        long[] any = {
            -1, -divisor, -divisor - 1, 0, divisor, (1L << 60) - 1, 1L << 60, (1L << 60) + 1, Long.MIN_VALUE, 1L << 62
        };
        for (long n : any) {
            assertThat(by.floor(n)).as("floor of %d / %d", n, divisor).isEqualTo(Math.floorDiv(n, divisor));
            assertThat(by.ceil(n))
                    .as("ceil of %d / %d", n, divisor)
                    .isEqualTo(Exact.ceilDiv(big(n), big(divisor)).longValueExact());
        }
    }

    @Test
    void multiplesOfAnIntervalAreExact() {
        Interval third = Interval.of("limit", new BigDecimal(3), 1_000_000, "burst", 1_000_000);
        Interval wide = Interval.of("limit", new BigDecimal("1000003"), 4_000_000_000_000_000L, "burst", 1_000_000);
        for (Interval interval : new Interval[] {third, wide}) {
            for (long n : new long[] {0, 1, 2, 3, 4, 999_999, 1_000_000}) {
                BigInteger[] parts = big(n).multiply(big(interval.ticks)).divideAndRemainder(big(interval.perMicro));

                assertThat(big(interval.wholeOf(n))).isEqualTo(parts[0]);
                assertThat(big(interval.partOf(n))).isEqualTo(parts[1]);
                assertThat(interval.ticksOf(n)).isEqualTo(big(n).multiply(big(interval.ticks)));
            }
        }
    }

    @Test
    void countsTheUnitsInARoomOfAnySize() {
        Interval interval = Interval.of("limit", new BigDecimal("1000003"), 4_000_000_000_000_000L, "burst", 1_000_000);
        long mostThatFits = Long.MAX_VALUE / interval.perMicro;
        for (long whole : new long[] {
            0,
            1,
            3_999_988_000L,
            3_999_988_001L,
            mostThatFits - 1,
            mostThatFits,
            mostThatFits + 1,
            4_000_000_000_000_000L
        }) {
            for (long part : new long[] {0, 1, interval.perMicro - 1}) {
                BigInteger units = big(whole)
                        .multiply(big(interval.perMicro))
                        .add(big(part))
                        .divide(big(interval.ticks));

                assertThat(big(interval.unitsIn(whole, part)))
                        .as("room of %d + %d/%d us", whole, part, interval.perMicro)
                        .isEqualTo(units);
            }
        }
        assertThat(interval.unitsIn(-1, interval.perMicro - 1)).isZero();
    }
}
