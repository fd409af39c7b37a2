package io.throttlekit.pg;

import io.throttlekit.StateCodec;
import io.throttlekit.Step;
import io.throttlekit.Transform;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Counts how often it was applied to a key: a transform that has no program. */
final class Counting implements Transform<Long, Long>, StateCodec<Long> {
    @Override
    public StateCodec<Long> codec() {
        return this;
    }

    @Override
    public Step<Long> step(@Nullable Long before, long nowMicros) {
        return new Step<>(before == null ? 1 : before + 1, 1);
    }

    @Override
    public Long read(Step<Long> step, long nowMicros) {
        return Objects.requireNonNull(step.state());
    }

    @Override
    public String kind() {
        return "counting";
    }

    @Override
    public byte[] encode(Long state) {
        return Long.toString(state).getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public Long decode(byte[] bytes) {
        return Long.valueOf(new String(bytes, StandardCharsets.US_ASCII));
    }

    @Override
    public long expiresAt(Long state) {
        return Long.MAX_VALUE / 2;
    }

    @Override
    public long remaining(Long state, long nowMicros) {
        return 0;
    }
}
