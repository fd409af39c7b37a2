package io.throttlekit.redis;

import io.throttlekit.StateCodec;
import io.throttlekit.StateMismatchException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** What a key holds on the function path: {@code <expiresMicros>:<kind>:<codec bytes>}, or nothing. */
final class Value {
    static final Value NONE = new Value(null, 0, null, null);

    private final byte @Nullable [] bytes;
    private final long expiresMicros;
    /** The state that was written, and by whom: it need not be read back. */
    private final @Nullable StateCodec<?> writer;

    private final @Nullable Object written;

    private Value(
            byte @Nullable [] bytes, long expiresMicros, @Nullable StateCodec<?> writer, @Nullable Object written) {
        this.bytes = bytes;
        this.expiresMicros = expiresMicros;
        this.writer = writer;
        this.written = written;
    }

    /** The value as Redis has it, or null for nothing. */
    byte @Nullable [] bytes() {
        return bytes;
    }

    static void checkKind(String kind) {
        if (kind.isEmpty() || kind.indexOf(':') >= 0) {
            throw new IllegalArgumentException("a codec's kind must be a word without colons, was \"" + kind + "\"");
        }
    }

    static <S> Value of(StateCodec<S> codec, S state) {
        long expires = codec.expiresAt(state);
        byte[] head = (expires + ":" + codec.kind() + ":").getBytes(StandardCharsets.UTF_8);
        byte[] tail = codec.encode(state);
        byte[] bytes = Arrays.copyOf(head, head.length + tail.length);
        System.arraycopy(tail, 0, bytes, head.length, tail.length);
        return new Value(bytes, expires, codec, state);
    }

    /**
     * Reads what Redis has.
     *
     * @throws StateMismatchException if it is none of this path's values
     */
    static Value parse(byte @Nullable [] stored) {
        if (stored == null) {
            return NONE;
        }
        int colon = indexOfColon(stored, 0);
        try {
            String expires = new String(stored, 0, Math.max(0, colon), StandardCharsets.US_ASCII);
            return new Value(stored, Long.parseLong(expires), null, null);
        } catch (NumberFormatException e) {
            throw new StateMismatchException("the key holds what a program left, and this is the function path", e);
        }
    }

    private static int indexOfColon(byte[] bytes, int from) {
        for (int i = from; i < bytes.length; i++) {
            if (bytes[i] == ':') {
                return i;
            }
        }
        return -1;
    }

    /**
     * The state, or null when there is none or it has expired.
     *
     * @throws StateMismatchException if it is of another kind
     */
    @SuppressWarnings("unchecked") // a codec writes what it reads
    <S> @Nullable S decode(StateCodec<S> codec, long nowMicros) {
        if (bytes == null || expiresMicros <= nowMicros) {
            return null;
        }
        if (writer == codec && written != null) {
            return (S) written;
        }
        int start = indexOfColon(bytes, 0) + 1;
        int end = indexOfColon(bytes, start);
        String kind = end < 0 ? "" : new String(bytes, start, end - start, StandardCharsets.UTF_8);
        if (!kind.equals(codec.kind())) {
            throw new StateMismatchException(
                    "the key holds state of kind " + kind + " where " + codec.kind() + " was expected", null);
        }
        return codec.decode(Arrays.copyOfRange(bytes, end + 1, bytes.length));
    }

    /** Milliseconds from now until it has expired, rounded up, at least 1. */
    long ttlMillis(long nowMicros) {
        long micros = expiresMicros - nowMicros;
        boolean overflow = expiresMicros > 0 && nowMicros < 0 && micros < 0;
        return overflow ? Long.MAX_VALUE / 2000 : Math.max(1, -Math.floorDiv(-micros, 1000L));
    }
}
