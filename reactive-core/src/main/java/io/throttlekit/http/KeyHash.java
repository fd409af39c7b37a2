package io.throttlekit.http;

import java.nio.charset.StandardCharsets;
import java.security.InvalidKeyException;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Objects;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Turns a key into one that tells nothing, so that no API key or address lands in a store, a dump of it or a
 * log: HMAC-SHA-256 under a secret, as 43 characters of URL-safe base 64.
 *
 * <p>Nodes that share limits share the secret. Who changes it makes every key a fresh one. Safe for use from
 * any thread.
 *
 * @see <a href="https://www.rfc-editor.org/rfc/rfc2104">RFC 2104, HMAC</a>
 */
public final class KeyHash {
    /** Below this many bytes a secret can be guessed. */
    public static final int MIN_SECRET_BYTES = 16;

    private static final String ALGORITHM = "HmacSHA256";
    private static final Base64.Encoder TEXT = Base64.getUrlEncoder().withoutPadding();

    private final SecretKeySpec secret;

    private KeyHash(SecretKeySpec secret) {
        this.secret = secret;
    }

    /**
     * A hash under a secret.
     *
     * @param secret at least {@value #MIN_SECRET_BYTES} bytes, random; copied
     * @return the hash
     * @throws IllegalArgumentException if it is shorter
     */
    public static KeyHash hmac(byte[] secret) {
        Objects.requireNonNull(secret, "secret");
        if (secret.length < MIN_SECRET_BYTES) {
            throw new IllegalArgumentException(
                    "secret must be at least " + MIN_SECRET_BYTES + " bytes, was " + secret.length);
        }
        KeyHash hash = new KeyHash(new SecretKeySpec(secret, ALGORITHM));
        // Java reads files when the first Mac is made: now, and not on the event loop of a request.
        hash.of("");
        return hash;
    }

    /**
     * The hash of a key.
     *
     * @param key any text
     * @return 43 characters of {@code A-Z a-z 0-9 _ -}
     */
    public String of(String key) {
        try {
            // A Mac keeps state between calls, so each call has its own.
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(secret);
            return TEXT.encodeToString(mac.doFinal(key.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException | InvalidKeyException e) {
            throw new IllegalStateException("every Java has " + ALGORITHM, e);
        }
    }

    @Override
    public String toString() {
        return "KeyHash[" + ALGORITHM + "]";
    }
}
