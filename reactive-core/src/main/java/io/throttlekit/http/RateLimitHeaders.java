package io.throttlekit.http;

import io.throttlekit.Decision;
import io.throttlekit.Strategy;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Writes the decisions of one limit as response header fields.
 *
 * <p>Times are seconds from the decision, by the clock of the store that decided, rounded up: whoever waits
 * that long has waited long enough, and a server whose clock is wrong tells no one a wrong time.
 *
 * @see <a href="https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-11">RateLimit header
 *     fields for HTTP</a>
 * @see <a href="https://www.rfc-editor.org/rfc/rfc9651">RFC 9651, Structured Field Values</a>
 */
public final class RateLimitHeaders {
    /** The field that tells what is left now. */
    public static final String RATE_LIMIT = "RateLimit";

    /** The field that tells what is allowed in all. */
    public static final String RATE_LIMIT_POLICY = "RateLimit-Policy";

    /** The field that tells a denied client how long to wait. */
    public static final String RETRY_AFTER = "Retry-After";

    /** Which text defines the fields. They have changed from draft to draft, so a version is chosen by name. */
    public enum Format {
        /** {@code RateLimit: "name";r=42;t=35} and {@code RateLimit-Policy: "name";q=100;w=60}. */
        DRAFT_11
    }

    /** The largest integer a structured field can carry: 15 digits. */
    private static final long MAX_INTEGER = 999_999_999_999_999L;

    private final String name;
    private final String policy;

    private RateLimitHeaders(String name, String policy) {
        this.name = name;
        this.policy = policy;
    }

    /**
     * The headers of a limit.
     *
     * @param format how they are written
     * @param policy the limit's name in them: printable ASCII, at least one character
     * @param strategy what decides; one without a constant window is written without {@code w}
     * @return the writer
     * @throws IllegalArgumentException if the name cannot be written
     */
    public static RateLimitHeaders of(Format format, String policy, Strategy<?> strategy) {
        Objects.requireNonNull(format, "format");
        String name = quoted(policy);
        StringBuilder item = new StringBuilder(name).append(";q=").append(integer(strategy.limit()));
        Duration window = strategy.window();
        if (window != null) {
            item.append(";w=").append(integer(seconds(window)));
        }
        return new RateLimitHeaders(name, item.toString());
    }

    /**
     * The fields that describe a decision: {@code RateLimit-Policy}, {@code RateLimit}, and {@code Retry-After}
     * on a denial that time can heal.
     *
     * @param decision the decision
     * @return names and values, in this order; the caller's own
     */
    public Map<String, String> of(Decision decision) {
        OptionalLong retryAfter = retryAfterSeconds(decision);
        long reset = ceilSeconds(Math.max(0, decision.resetAtMs() - decision.decidedAtMs()));
        if (retryAfter.isPresent()) {
            // The whole limit may come back much later than the units this request waits for.
            reset = Math.min(reset, retryAfter.getAsLong());
        }
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put(RATE_LIMIT_POLICY, policy);
        fields.put(RATE_LIMIT, name + ";r=" + integer(decision.remaining()) + ";t=" + integer(reset));
        if (retryAfter.isPresent()) {
            fields.put(RETRY_AFTER, Long.toString(retryAfter.getAsLong()));
        }
        return fields;
    }

    /**
     * The value of {@code Retry-After}.
     *
     * @param decision the decision
     * @return whole seconds, at least 1; empty for an allow, and for a request that can never succeed
     */
    public static OptionalLong retryAfterSeconds(Decision decision) {
        return decision.allowed() || decision.exceedsLimit()
                ? OptionalLong.empty()
                : OptionalLong.of(Math.max(1, ceilSeconds(decision.retryAfterMs())));
    }

    /** Whole seconds, rounded up, at least 1. */
    static long seconds(Duration duration) {
        long whole = duration.getSeconds();
        return Math.max(1, duration.getNano() > 0 && whole < Long.MAX_VALUE ? whole + 1 : whole);
    }

    private static long ceilSeconds(long ms) {
        return ms / 1000 + (ms % 1000 > 0 ? 1 : 0);
    }

    private static long integer(long value) {
        return Math.min(value, MAX_INTEGER);
    }

    /** A structured field's String: printable ASCII in quotes, with the quote and the backslash escaped. */
    private static String quoted(@Nullable String text) {
        if (text == null || text.isEmpty()) {
            throw new IllegalArgumentException("policy must have at least one character");
        }
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < ' ' || c > '~') {
                throw new IllegalArgumentException(
                        "policy must be printable ASCII, has U+" + String.format("%04X", (int) c) + " at index " + i);
            }
            if (c == '"' || c == '\\') {
                quoted.append('\\');
            }
            quoted.append(c);
        }
        return quoted.append('"').toString();
    }
}
