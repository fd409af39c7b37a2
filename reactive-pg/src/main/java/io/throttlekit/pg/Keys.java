package io.throttlekit.pg;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;

/**
 * Makes the bytes that a key is stored under: prefix, colon, key.
 *
 * <p>Different strings are different bytes. Where Java's own UTF-8 writes a question mark for half of a
 * surrogate pair, this writes the three bytes that its number has in UTF-8, which stand for nothing else. A key
 * of more than 512 bytes is replaced by the byte FF, which no other key contains, and its SHA-256.
 */
final class Keys {
    private static final int LONGEST = 512;
    private static final int HASHED = 0xFF;

    private final byte[] prefix;
    private final MessageDigest sha256;

    /**
     * Keys under a prefix.
     *
     * @param prefix matches {@code [A-Za-z0-9_.-]*}; the bare key is stored when it is empty
     */
    Keys(String prefix) {
        this.prefix = (prefix.isEmpty() ? "" : prefix + ":").getBytes(StandardCharsets.US_ASCII);
        try {
            this.sha256 = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    byte[] bytes(String key) {
        byte[] encoded = encode(key);
        if (prefix.length + encoded.length <= LONGEST) {
            return join(encoded, 0);
        }
        byte[] digest = digest(encoded);
        byte[] joined = join(digest, 1);
        joined[prefix.length] = (byte) HASHED;
        return joined;
    }

    private byte[] join(byte[] tail, int gap) {
        byte[] joined = Arrays.copyOf(prefix, prefix.length + gap + tail.length);
        System.arraycopy(tail, 0, joined, prefix.length + gap, tail.length);
        return joined;
    }

    private byte[] digest(byte[] bytes) {
        try {
            return ((MessageDigest) sha256.clone()).digest(bytes);
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException("Java's own SHA-256 can be cloned", e);
        }
    }

    private static byte[] encode(String key) {
        for (int i = 0; i < key.length(); i++) {
            if (Character.isSurrogate(key.charAt(i))) {
                return encodeAll(key);
            }
        }
        return key.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] encodeAll(String key) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(key.length() * 3);
        int i = 0;
        while (i < key.length()) {
            int point = key.codePointAt(i);
            int length = Character.charCount(point);
            if (length == 1 && Character.isSurrogate((char) point)) {
                out.write(0xE0 | (point >> 12));
                out.write(0x80 | ((point >> 6) & 0x3F));
                out.write(0x80 | (point & 0x3F));
            } else {
                out.writeBytes(key.substring(i, i + length).getBytes(StandardCharsets.UTF_8));
            }
            i += length;
        }
        return out.toByteArray();
    }

    /** A well mixed hash of bytes, which begins with a salt. */
    static long hash(long salt, byte[] bytes) {
        long hash = salt ^ 0xcbf29ce484222325L;
        for (byte b : bytes) {
            hash = (hash ^ (b & 0xFF)) * 0x100000001b3L;
        }
        hash = (hash ^ (hash >>> 32)) * 0xd6e8feb86659fd93L;
        return hash ^ (hash >>> 32);
    }
}
