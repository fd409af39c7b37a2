package io.throttlekit.redis;

import io.throttlekit.StateCodec;
import io.throttlekit.Strategy;
import io.throttlekit.Strategy.Verdict;
import java.nio.charset.StandardCharsets;

/**
 * A strategy as a user writes it, one function and a codec: so many units in an hour from the first one on.
 *
 * @param startMicros when the hour began
 * @param count units taken in it
 */
record LastHit(long startMicros, long count) {
    private static final long HOUR = 3_600_000_000L;

    static Strategy<LastHit> strategy(long limit) {
        return Strategy.of("lastHit", limit, new Codec(limit), (state, now, cost) -> {
            LastHit hit = state == null ? new LastHit(now, 0) : state;
            return hit.count + cost <= limit
                    ? Verdict.allow(new LastHit(hit.startMicros, hit.count + cost))
                    : Verdict.deny(hit.startMicros + HOUR);
        });
    }

    private record Codec(long limit) implements StateCodec<LastHit> {
        @Override
        public String kind() {
            return "lastHit";
        }

        @Override
        public byte[] encode(LastHit state) {
            return (state.startMicros + "+" + state.count).getBytes(StandardCharsets.US_ASCII);
        }

        @Override
        public LastHit decode(byte[] bytes) {
            String[] parts = new String(bytes, StandardCharsets.US_ASCII).split("\\+", -1);
            return new LastHit(Long.parseLong(parts[0]), Long.parseLong(parts[1]));
        }

        @Override
        public long expiresAt(LastHit state) {
            return state.startMicros + HOUR;
        }

        @Override
        public long remaining(LastHit state, long nowMicros) {
            return limit - state.count;
        }
    }
}
