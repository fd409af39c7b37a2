package io.throttlekit.conformance;

import io.throttlekit.StateCodec;
import io.throttlekit.Strategy;
import io.throttlekit.Strategy.Verdict;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A user's strategy of one function: at most so many units per second from the first one on.
 *
 * @param startMicros when the second began
 * @param count units taken in it
 */
record LastHit(long startMicros, long count) {
    static final long SECOND = 1_000_000;

    static Strategy<LastHit> strategy(long limit) {
        return Strategy.of("lastHit", limit, codec(limit), (state, now, cost) -> decide(limit, state, now, cost));
    }

    static Verdict<LastHit> decide(long limit, @Nullable LastHit state, long now, long cost) {
        if (state == null || now >= state.startMicros + SECOND) {
            return cost <= limit ? Verdict.allow(new LastHit(now, cost)) : Verdict.deny(now + SECOND);
        }
        return state.count + cost <= limit
                ? Verdict.allow(new LastHit(state.startMicros, state.count + cost))
                : Verdict.deny(state.startMicros + SECOND);
    }

    static StateCodec<LastHit> codec(long limit) {
        return new StateCodec<>() {
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
                String text = new String(bytes, StandardCharsets.US_ASCII);
                int plus = text.indexOf('+');
                return new LastHit(Long.parseLong(text.substring(0, plus)), Long.parseLong(text.substring(plus + 1)));
            }

            @Override
            public long expiresAt(LastHit state) {
                return state.startMicros + SECOND;
            }

            @Override
            public long remaining(LastHit state, long nowMicros) {
                return nowMicros >= state.startMicros + SECOND ? limit : limit - state.count;
            }
        };
    }
}
