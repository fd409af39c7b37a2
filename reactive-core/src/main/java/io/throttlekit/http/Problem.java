package io.throttlekit.http;

import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The body of a refusal, RFC 9457. The types and their titles are those registered for quotas. Written by
 * hand: the only text in it that is not ours is the policy's name, which is printable ASCII.
 */
final class Problem {
    static final String MEDIA_TYPE = "application/problem+json";

    private static final String TYPES = "https://iana.org/assignments/http-problem-types#";

    private Problem() {}

    static String quotaExceeded(String policy, OptionalLong retryAfterSeconds) {
        return json(
                "quota-exceeded",
                "Request cannot be satisfied as assigned quota has been exceeded",
                429,
                retryAfterSeconds.isPresent()
                        ? "The limit is used up. Try again in " + retryAfterSeconds.getAsLong() + " s."
                        : "The request costs more than the limit ever allows at once.",
                policy,
                retryAfterSeconds);
    }

    static String temporarilyReduced(String reason, long retryAfterSeconds) {
        return json(
                "temporary-reduced-capacity",
                "Request cannot be satisfied due to temporary server capacity constraints",
                503,
                reason + " Try again in " + retryAfterSeconds + " s.",
                null,
                OptionalLong.of(retryAfterSeconds));
    }

    private static String json(
            String type,
            String title,
            int status,
            String detail,
            @Nullable String violated,
            OptionalLong retryAfterSeconds) {
        StringBuilder json = new StringBuilder(320)
                .append("{\"type\":\"")
                .append(TYPES)
                .append(type)
                .append("\",\"title\":\"")
                .append(title)
                .append("\",\"status\":")
                .append(status)
                .append(",\"detail\":\"")
                .append(detail)
                .append("\",\"violated-policies\":[");
        if (violated != null) {
            json.append('"')
                    .append(violated.replace("\\", "\\\\").replace("\"", "\\\""))
                    .append('"');
        }
        json.append(']');
        if (retryAfterSeconds.isPresent()) {
            json.append(",\"retryAfterSeconds\":").append(retryAfterSeconds.getAsLong());
        }
        return json.append('}').toString();
    }
}
