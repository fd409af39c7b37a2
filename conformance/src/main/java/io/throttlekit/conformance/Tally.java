package io.throttlekit.conformance;

import io.throttlekit.StateCodec;
import io.throttlekit.Step;
import io.throttlekit.Transform;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The plainest state there is: a count that ends at an instant. Its transforms have no program.
 *
 * @param count what was added so far
 * @param endsAtMicros when the count is forgotten, epoch microseconds
 */
record Tally(long count, long endsAtMicros) {
    static final long LONG_MICROS = 3_600_000_000L;

    /**
     * What a transform saw.
     *
     * @param count the count after the step, 0 when there is none
     * @param endsAtMicros when it ends, 0 when there is none
     * @param nowMicros the store's clock
     */
    record Seen(long count, long endsAtMicros, long nowMicros) {}

    /** The codec, which counts how often it wrote. What it writes begins with the kind. */
    static final class Codec implements StateCodec<Tally> {
        private final String kind;
        private final AtomicInteger written = new AtomicInteger();

        Codec(String kind) {
            this.kind = kind;
        }

        int written() {
            return written.get();
        }

        @Override
        public String kind() {
            return kind;
        }

        @Override
        public byte[] encode(Tally state) {
            written.incrementAndGet();
            return (kind + " " + state.count + " " + state.endsAtMicros).getBytes(StandardCharsets.US_ASCII);
        }

        @Override
        public Tally decode(byte[] bytes) {
            String[] parts = new String(bytes, StandardCharsets.US_ASCII).split(" ", -1);
            if (parts.length != 3 || !parts[0].equals(kind)) {
                throw new IllegalArgumentException("a tally must be its kind and two numbers");
            }
            return new Tally(Long.parseLong(parts[1]), Long.parseLong(parts[2]));
        }

        @Override
        public long expiresAt(Tally state) {
            return state.endsAtMicros;
        }

        @Override
        public long remaining(Tally state, long nowMicros) {
            return 0;
        }
    }

    /** The step of a transform. */
    @FunctionalInterface
    interface Change {
        @Nullable
        Tally of(@Nullable Tally before, long nowMicros);
    }

    static Transform<Tally, Seen> changing(Codec codec, Change change) {
        return new Transform<>() {
            @Override
            public StateCodec<Tally> codec() {
                return codec;
            }

            @Override
            @SuppressWarnings("ReferenceEquality") // the very object means no change
            public Step<Tally> step(@Nullable Tally before, long nowMicros) {
                Tally after = change.of(before, nowMicros);
                return new Step<>(after, after == before ? 0 : 1);
            }

            @Override
            public Seen read(Step<Tally> step, long nowMicros) {
                Tally tally = step.state();
                return tally == null ? new Seen(0, 0, nowMicros) : new Seen(tally.count, tally.endsAtMicros, nowMicros);
            }
        };
    }

    /** Adds to the count; the first to add says when it ends. */
    static Transform<Tally, Seen> adding(Codec codec, long units, long lifeMicros) {
        return changing(
                codec,
                (before, now) -> before == null
                        ? new Tally(units, now + lifeMicros)
                        : new Tally(before.count + units, before.endsAtMicros));
    }

    static Transform<Tally, Seen> looking(Codec codec) {
        return changing(codec, (before, now) -> before);
    }

    static Transform<Tally, Seen> forgetting(Codec codec) {
        return changing(codec, (before, now) -> null);
    }
}
