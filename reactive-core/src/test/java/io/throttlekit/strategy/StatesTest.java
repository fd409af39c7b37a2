package io.throttlekit.strategy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.sun.management.ThreadMXBean;
import io.throttlekit.Decision;
import io.throttlekit.Dialect;
import io.throttlekit.ExactMicros;
import io.throttlekit.StateCodec;
import io.throttlekit.Strategy;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** States as they are written, what is refused when they are read, and what a changed configuration makes of them. */
class StatesTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    /** One and a half seconds after the epoch, and one microsecond. */
    private static final long NOW = 1_500_001;

    private static <S> S after(Strategy<S> strategy, long cost) {
        return Objects.requireNonNull(strategy.check(cost, cost).step(null, NOW).state());
    }

    private static <S> StateCodec<S> codec(Strategy<S> strategy) {
        return strategy.peek().codec();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static <S> S read(Strategy<S> strategy, String text) {
        return codec(strategy).decode(bytes(text));
    }

    private static <S> Decision peek(Strategy<S> strategy, S state, long nowMicros) {
        return strategy.peek().read(strategy.peek().step(state, nowMicros), nowMicros);
    }

    private static <S> void isWritten(Strategy<S> strategy, String kind, String text, long expiresMicros) {
        S state = after(strategy, 2);
        StateCodec<S> codec = codec(strategy);

        assertThat(codec.kind()).isEqualTo(kind);
        assertThat(codec.encode(state)).asString(StandardCharsets.US_ASCII).isEqualTo(text);
        assertThat(codec.decode(bytes(text))).isEqualTo(state).hasSameHashCodeAs(state);
        assertThat(codec.decode(bytes(text))).isNotEqualTo(after(strategy, 1));
        assertThat(codec.expiresAt(state)).isEqualTo(expiresMicros);
        assertThat(codec.remaining(state, NOW)).isEqualTo(3);
        assertThat(codec.remaining(state, expiresMicros)).isEqualTo(5);
    }

    @Test
    void stateIsWrittenAsWholeNumbersUntilItExpires() {
        isWritten(Gcra.of(3, SECOND).withBurst(5), "gcra", "2166667:2:3", 2_166_668);
        isWritten(TokenBucket.of(5, 3, SECOND), "tokenBucket", "3000000:1000000:1500001", 2_166_668);
        isWritten(FixedWindow.of(5, SECOND), "fixedWindow", "1000:2000:2", 2_000_000);
        isWritten(Quota.fixed(5, SECOND), "quota", "1000:2000:2", 2_000_000);
        isWritten(Quota.daily(5).in(ZoneId.of("UTC")), "quota", "0:86400000:2", 86_400_000_000L);
        isWritten(SlidingWindow.of(5, SECOND, 2), "slidingWindow", "1000:3:2:0:0", 3_000_000);
        isWritten(SlidingWindow.of(5, SECOND, 3), "slidingWindow", "1000:4:2:0:0:0", 2_667_000);
        isWritten(Quota.rolling(5, SECOND, 1), "quota", "1000:1:2:0", 3_000_000);
        isWritten(SlidingWindowLog.of(5, SECOND), "slidingWindowLog", "1500:2", 2_500_000);
    }

    @Test
    void bytesOfNobodysAreRefused() {
        List<Strategy<?>> threeNumbers = List.of(
                Gcra.of(5, SECOND),
                TokenBucket.of(5, 5, SECOND),
                FixedWindow.of(5, SECOND),
                Quota.fixed(5, SECOND),
                Quota.daily(5));
        for (Strategy<?> strategy : threeNumbers) {
            refuses(strategy, "1:2", "state must have 3 numbers, had 2");
            refuses(strategy, "1:2:3:4", "state must have 3 numbers, had 4");
        }
        List<Strategy<?>> all = List.of(
                Gcra.of(5, SECOND),
                TokenBucket.of(5, 5, SECOND),
                FixedWindow.of(5, SECOND),
                SlidingWindow.of(5, SECOND),
                SlidingWindowLog.of(5, SECOND));
        for (Strategy<?> strategy : all) {
            for (String broken : List.of("", "a:b:c", "1.5:2:3", "1:2:", ":1:2", "1::2", "1:2:9223372036854775808")) {
                refuses(strategy, broken, "state must be whole numbers with colons between");
            }
        }
    }

    private static void refuses(Strategy<?> strategy, String text, String message) {
        assertThatIllegalArgumentException()
                .as("%s of \"%s\"", strategy.name(), text)
                .isThrownBy(() -> read(strategy, text))
                .withMessage(message);
    }

    @Test
    void numbersThatNoStateHasAreRefused() {
        Strategy<?> gcra = Gcra.of(5, SECOND);
        Strategy<?> bucket = TokenBucket.of(5, 5, SECOND);
        Strategy<?> window = FixedWindow.of(5, SECOND);
        SlidingWindow sliding = SlidingWindow.of(5, SECOND);
        Strategy<?> log = SlidingWindowLog.of(5, SECOND);

        refuses(gcra, "1:2:2", "part must be at least 0 and below of, was 2/2");
        refuses(bucket, "-1:1:0", "grains must be at least 0 and perToken at least 1, was -1/1");
        refuses(bucket, "0:0:0", "grains must be at least 0 and perToken at least 1, was 0/0");
        refuses(window, "5:5:0", "resetMs must be after startMs and count at least 0, was 5 to 5, 0");
        refuses(window, "5:6:-1", "resetMs must be after startMs and count at least 0, was 5 to 6, -1");
        refuses(sliding, "1000:3:2", "state must be a window, a bucket and at least two counts");
        refuses(sliding, "0:3:2:0", "state must be a window, a bucket and at least two counts");
        refuses(sliding, "1000:3:2:-1", "counts must be at least 0, were [2, -1]");
        refuses(log, "1500:2:1600", "state must be pairs of stamp and units");
        refuses(log, "1500:2:1600:-1", "units must be at least 0, were -1");
        assertThat(read(window, "5:6:0")).isEqualTo(new WindowState(5, 6, 0));
        assertThat(read(bucket, "0:1:0")).isEqualTo(new TokenBucket.State(0, 1, 0));
        assertThat(codec(sliding).encode(read(sliding, "1:3:2:0"))).isEqualTo(bytes("1:3:2:0"));
    }

    @Test
    void slidingWindowsAreEqualWhenAllTheirNumbersAre() {
        SlidingWindow strategy = SlidingWindow.of(5, SECOND, 2);
        SlidingWindow.State state = read(strategy, "1000:3:2:1:0");

        assertThat(state).isEqualTo(read(strategy, "1000:3:2:1:0"));
        for (String other : List.of("1001:3:2:1:0", "1000:4:2:1:0", "1000:3:1:1:0", "1000:3:2:1:1", "1000:3:2:1")) {
            assertThat(state).as(other).isNotEqualTo(read(strategy, other));
        }
        assertThat(state).isNotEqualTo("1000:3:2:1:0");
        assertThat(read(strategy, "1000:103:2:1:0"))
                .doesNotHaveSameHashCodeAs(read(strategy, "1000:104:2:1:0"))
                .doesNotHaveSameHashCodeAs(read(strategy, "1000:103:1:1:0"));
    }

    @Test
    void logsAreEqualWhenTheirStampsAreHoweverTheyCameAbout() {
        SlidingWindowLog strategy = SlidingWindowLog.of(9, SECOND);
        SlidingWindowLog.State grown = after(strategy, 2).plus(1_600, 1).plus(1_700, 3);

        SlidingWindowLog.State trimmed =
                Objects.requireNonNull(grown.after(1_500)).minus(1);

        assertThat(trimmed)
                .isEqualTo(read(strategy, "1600:1:1700:2"))
                .hasSameHashCodeAs(read(strategy, "1600:1:1700:2"));
        assertThat(trimmed).isNotEqualTo(read(strategy, "1600:1:1700:3")).isNotEqualTo("1600:1:1700:2");
        assertThat(grown).isEqualTo(read(strategy, "1500:2:1600:1:1700:3")).doesNotHaveSameHashCodeAs(trimmed);
        assertThat(grown.after(1_499)).isEqualTo(grown);
        assertThat(grown.after(1_500)).isEqualTo(read(strategy, "1600:1:1700:3"));
        assertThat(grown.after(1_700)).isNull();
    }

    @Test
    void twoStatesThatFollowTheSameLogDoNotMix() {
        SlidingWindowLog strategy = SlidingWindowLog.of(99, SECOND);
        SlidingWindowLog.State log = after(strategy, 1);
        String text = "1500:1";
        for (int i = 1; i < 20; i++) {
            SlidingWindowLog.State one = log.plus(1_500 + i, 1);
            SlidingWindowLog.State other = log.plus(1_500 + i, 2);
            SlidingWindowLog.State fewer = Objects.requireNonNull(other.minus(1));

            assertThat(one)
                    .isEqualTo(read(strategy, text + ":" + (1_500 + i) + ":1"))
                    .isEqualTo(fewer);
            assertThat(other).isEqualTo(read(strategy, text + ":" + (1_500 + i) + ":2"));
            assertThat(log).isEqualTo(read(strategy, text));
            log = i % 2 == 0 ? fewer : one;
            text += ":" + (1_500 + i) + ":1";
        }
    }

    @Test
    void anAllowCopiesNoLogHoweverLongItIs() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        SlidingWindowLog.State log = SlidingWindowLog.State.of(0, 1);

        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 1; i < 4_000; i++) {
            log = log.plus(i, 1);
        }

        // A copy for each would be of 32 kB on average, 128 MB in all.
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(4_000_000);
        assertThat(log.units()).isEqualTo(4_000);
    }

    @Test
    void bucketCountsTheTokensOfAnotherRateAndDropsTheRest() {
        TokenBucket bucket = TokenBucket.of(5, 3, SECOND);
        // Five halves of a token in a bucket that knows millionths.
        TokenBucket.State halves = new TokenBucket.State(5, 2, NOW);
        TokenBucket.State thirds = new TokenBucket.State(7, 3, NOW);
        TokenBucket.State tooMany = new TokenBucket.State(Long.MAX_VALUE, 1, NOW);

        assertThat(peek(bucket, halves, NOW))
                .isEqualTo(peek(bucket, new TokenBucket.State(2_500_000, 1_000_000, NOW), NOW));
        assertThat(peek(bucket, thirds, NOW))
                .isEqualTo(peek(bucket, new TokenBucket.State(2_333_333, 1_000_000, NOW), NOW));
        assertThat(peek(bucket, tooMany, NOW).remaining()).isEqualTo(5);
        assertThat(codec(bucket).expiresAt(halves)).isEqualTo(NOW + 833_334);
        assertThat(codec(bucket).expiresAt(tooMany)).isEqualTo(NOW);
        assertThat(codec(bucket).remaining(thirds, NOW)).isEqualTo(2);
    }

    @Test
    void bucketThatHeldMoreThanItsCapacityIsFull() {
        TokenBucket bucket = TokenBucket.of(5, 3, SECOND);
        TokenBucket.State six = new TokenBucket.State(6_000_000, 1_000_000, NOW);

        assertThat(peek(bucket, six, NOW).remaining()).isEqualTo(5);
        assertThat(peek(bucket, six, NOW - 1).remaining()).isEqualTo(5);
        assertThat(peek(bucket, six, NOW + 1).remaining()).isEqualTo(5);
        assertThat(codec(bucket).expiresAt(six)).isEqualTo(NOW);
    }

    @Test
    void gcraReadsTheInstantOfAnotherRate() {
        Gcra thirds = Gcra.of(3, SECOND);

        // Half a tick of thirds is rounded up, never in favour of the caller.
        assertThat(peek(thirds, new ExactMicros(NOW + 333_333, 1, 2), NOW).remaining())
                .isEqualTo(1);
        assertThat(peek(thirds, new ExactMicros(NOW + 333_333, 1, 6), NOW).remaining())
                .isEqualTo(2);
        assertThat(codec(thirds).expiresAt(new ExactMicros(NOW, 1, 2))).isEqualTo(NOW + 1);
        assertThat(codec(thirds).expiresAt(new ExactMicros(NOW, 0, 2))).isEqualTo(NOW);
    }

    @Test
    void slidingWindowStartsAfreshWhenItsWindowOrItsBucketsChange() {
        SlidingWindow strategy = SlidingWindow.of(5, SECOND, 2);
        Map<String, Long> remaining = Map.of(
                "1000:3:5:0:0", 0L, // its own
                "2000:3:5:0:0", 5L,
                "1000:3:5:0", 5L,
                "1000:3:5:0:0:0", 5L);

        remaining.forEach((text, left) -> {
            SlidingWindow.State state = read(strategy, text);
            assertThat(peek(strategy, state, NOW).remaining()).as(text).isEqualTo(left);
            assertThat(strategy.refund(1, null).step(state, NOW).granted())
                    .as("given back to " + text)
                    .isEqualTo(left == 0 ? 1 : 0);
        });
        // The old state is kept for as long as it would have counted.
        assertThat(codec(strategy).expiresAt(read(strategy, "1000:3:5:0:0:0"))).isEqualTo(2_334_000);
        assertThat(codec(strategy).expiresAt(read(strategy, "2000:3:5:0:0"))).isEqualTo(6_000_000);
    }

    @Test
    void counterTakesTheEndOfAPeriodFromItsConfiguration() {
        FixedWindow hour = FixedWindow.of(5, Duration.ofHours(1));

        assertThat(peek(hour, new WindowState(0, 60_000, 4), NOW).resetAtMs()).isEqualTo(3_600_000);
        assertThat(peek(hour, new WindowState(0, 60_000, 4), NOW).remaining()).isEqualTo(1);
    }

    @Test
    void programWithoutATextInALanguageHasNone() {
        Script<Boolean> unknown =
                Script.of("unknown_" + UUID.randomUUID(), "check", List.of(1L, 2L), reply -> reply.get(0) > 0);

        for (Dialect dialect : Dialect.values()) {
            assertThat(unknown.text(dialect)).isNull();
            assertThat(Script.of("gcra", "check", List.of(), reply -> true).text(dialect))
                    .contains("check");
        }
        assertThat(unknown.args(NOW)).containsExactly(1L, 2L);
        assertThat(unknown.read(List.of(1L))).isTrue();
        assertThat(unknown.read(List.of(0L))).isFalse();
    }
}
