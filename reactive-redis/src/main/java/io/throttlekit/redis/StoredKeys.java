package io.throttlekit.redis;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * Makes the bytes of a stored key: {@code prefix:key}, such that two keys never meet and no key chooses its
 * cluster slot.
 *
 * <p><code>{</code>, <code>}</code> and {@code %} are percent-encoded, all other characters are UTF-8. Half of a surrogate
 * pair, which UTF-8 has no form for, becomes the three bytes it would have as a character of its own; no
 * valid text has those.
 *
 * <p>Where that makes more than 512 bytes, the stored key is {@code prefix:%h} and the hex digits of the SHA-256
 * of the encoded key. An encoded key has no {@code %} before an {@code h}, so such keys meet no others.
 */
final class StoredKeys {
    static final int MAX_BYTES = 512;

    private static final byte[] HASHED = ascii("%h");
    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    private final byte[] prefix;
    private final MessageDigest sha256;

    /**
     * Keys under a prefix.
     *
     * @param prefix without its colon; empty for bare keys
     */
    StoredKeys(String prefix) {
        this.prefix = prefix.isEmpty() ? new byte[0] : ascii(prefix + ":");
        try {
            this.sha256 = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    byte[] of(String key) {
        int length = key.length();
        byte[] plain = new byte[prefix.length + length];
        System.arraycopy(prefix, 0, plain, 0, prefix.length);
        for (int i = 0; i < length; i++) {
            char c = key.charAt(i);
            if (c >= 0x80 || c == '{' || c == '}' || c == '%') {
                return bounded(encode(key));
            }
            plain[prefix.length + i] = (byte) c;
        }
        return bounded(plain);
    }

    private byte[] encode(String key) {
        byte[] out = Arrays.copyOf(prefix, prefix.length + 3 * key.length());
        int at = prefix.length;
        for (int i = 0; i < key.length(); i++) {
            char c = key.charAt(i);
            if (c == '{' || c == '}' || c == '%') {
                out[at++] = '%';
                out[at++] = (byte) HEX.toHighHexDigit(c);
                out[at++] = (byte) HEX.toLowHexDigit(c);
            } else if (c < 0x80) {
                out[at++] = (byte) c;
            } else if (c < 0x800) {
                out[at++] = (byte) (0xC0 | (c >> 6));
                out[at++] = tail(c);
            } else if (Character.isHighSurrogate(c)
                    && i + 1 < key.length()
                    && Character.isLowSurrogate(key.charAt(i + 1))) {
                int point = Character.toCodePoint(c, key.charAt(++i));
                out[at++] = (byte) (0xF0 | (point >> 18));
                out[at++] = tail(point >> 12);
                out[at++] = tail(point >> 6);
                out[at++] = tail(point);
            } else {
                out[at++] = (byte) (0xE0 | (c >> 12));
                out[at++] = tail(c >> 6);
                out[at++] = tail(c);
            }
        }
        return Arrays.copyOf(out, at);
    }

    /** A byte that goes on with a character: its lowest six bits. */
    private static byte tail(int bits) {
        return (byte) (0x80 | (bits & 0x3F));
    }

    private byte[] bounded(byte[] stored) {
        if (stored.length <= MAX_BYTES) {
            return stored;
        }
        MessageDigest digest = copyOfSha256();
        digest.update(stored, prefix.length, stored.length - prefix.length);
        byte[] hash = ascii(HexFormat.of().formatHex(digest.digest()));
        byte[] out = Arrays.copyOf(prefix, prefix.length + HASHED.length + hash.length);
        System.arraycopy(HASHED, 0, out, prefix.length, HASHED.length);
        System.arraycopy(hash, 0, out, prefix.length + HASHED.length, hash.length);
        return out;
    }

    /** A copy needs no look-up of providers, which may read files. */
    private MessageDigest copyOfSha256() {
        try {
            return (MessageDigest) sha256.clone();
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException("SHA-256 can be copied", e);
        }
    }
}
