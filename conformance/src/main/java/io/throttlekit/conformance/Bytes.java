package io.throttlekit.conformance;

import io.throttlekit.StateCodec;
import io.throttlekit.Step;
import io.throttlekit.Transform;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * A state of any bytes whatever.
 *
 * @param hex the bytes, in a form that compares
 */
record Bytes(String hex) {
    private static final StateCodec<Bytes> CODEC = new StateCodec<>() {
        @Override
        public String kind() {
            return "bytes";
        }

        @Override
        public byte[] encode(Bytes state) {
            return HexFormat.of().parseHex(state.hex);
        }

        @Override
        public Bytes decode(byte[] bytes) {
            return Bytes.of(bytes);
        }

        @Override
        public long expiresAt(Bytes state) {
            // 2250-01-01, before every limit of a backend's numbers.
            return 8_835_955_200_000_000L;
        }

        @Override
        public long remaining(Bytes state, long nowMicros) {
            return 0;
        }
    };

    static Bytes of(byte[] bytes) {
        return new Bytes(HexFormat.of().formatHex(bytes));
    }

    /** Keeps {@code next} if it is given, and answers what is kept then, "none" for nothing. */
    static Transform<Bytes, String> keeping(@Nullable Bytes next) {
        return new Transform<>() {
            @Override
            public StateCodec<Bytes> codec() {
                return CODEC;
            }

            @Override
            public Step<Bytes> step(@Nullable Bytes before, long nowMicros) {
                return next == null ? new Step<>(before, 0) : new Step<>(next, 1);
            }

            @Override
            public String read(Step<Bytes> step, long nowMicros) {
                Bytes state = step.state();
                return state == null ? "none" : state.hex;
            }
        };
    }
}
