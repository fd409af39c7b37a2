package io.throttlekit.examples;

import io.throttlekit.StateCodec;
import io.throttlekit.Strategy;
import io.throttlekit.Strategy.Verdict;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A strategy of our own: who takes units gets no more for a while, and the longer the more they were. Its state is the
 * instant at which that is over, epoch microseconds.
 */
final class Cooldown {
    private Cooldown() {}

    /**
     * Makes the strategy.
     *
     * @param most the most units at once, at least 1
     * @param perUnit how long a key rests for each
     */
    static Strategy<Long> of(long most, Duration perUnit) {
        long restMicros = perUnit.toNanos() / 1_000;
        return Strategy.of("cooldown", most, new Codec(most), (over, now, cost) -> decide(over, now, cost, restMicros));
    }

    private static Verdict<Long> decide(@Nullable Long over, long nowMicros, long cost, long restMicros) {
        return over == null || nowMicros >= over ? Verdict.allow(nowMicros + cost * restMicros) : Verdict.deny(over);
    }

    private record Codec(long most) implements StateCodec<Long> {
        @Override
        public String kind() {
            return "cooldown";
        }

        @Override
        public byte[] encode(Long over) {
            return ByteBuffer.allocate(Long.BYTES).putLong(over).array();
        }

        @Override
        public Long decode(byte[] bytes) {
            if (bytes.length != Long.BYTES) {
                throw new IllegalArgumentException("an instant has 8 bytes, was " + bytes.length);
            }
            return ByteBuffer.wrap(bytes).getLong();
        }

        @Override
        public long expiresAt(Long over) {
            return over;
        }

        @Override
        public long remaining(Long over, long nowMicros) {
            return nowMicros >= over ? most : 0;
        }
    }
}
