package io.throttlekit.http;

import java.util.List;
import java.util.OptionalLong;

/**
 * A refusal in words: as problem details, RFC 9457, and as plain text. The types and their titles are those
 * registered for quotas. Written by hand: the only text in it that is not ours is the policies' names, which
 * are printable ASCII.
 */
final class Problem {
    static final String MEDIA_TYPE = "application/problem+json";

    private static final String TYPES = "https://iana.org/assignments/http-problem-types#";

    private Problem() {}

    static String json(RefusalBody.Refusal refusal) {
        return json(refusal, detail(refusal));
    }

    /** A 503; the reason is a sentence that needs no escaping in JSON. */
    static String temporarilyReduced(String reason, long retryAfterSeconds) {
        RefusalBody.Refusal refusal = new RefusalBody.Refusal(503, List.of(), OptionalLong.of(retryAfterSeconds));
        return json(refusal, reason + when(refusal));
    }

    private static String json(RefusalBody.Refusal refusal, String detail) {
        boolean quota = refusal.status() == 429;
        StringBuilder json = new StringBuilder(320)
                .append("{\"type\":\"")
                .append(TYPES)
                .append(quota ? "quota-exceeded" : "temporary-reduced-capacity")
                .append("\",\"title\":\"")
                .append(
                        quota
                                ? "Request cannot be satisfied as assigned quota has been exceeded"
                                : "Request cannot be satisfied due to temporary server capacity constraints")
                .append("\",\"status\":")
                .append(refusal.status())
                .append(",\"detail\":\"")
                .append(detail)
                .append("\",\"violated-policies\":[");
        String separator = "";
        for (String name : refusal.violatedPolicies()) {
            json.append(separator).append('"').append(escaped(name)).append('"');
            separator = ",";
        }
        json.append(']');
        refusal.retryAfterSeconds()
                .ifPresent(seconds -> json.append(",\"retryAfterSeconds\":").append(seconds));
        return json.append('}').toString();
    }

    static String text(RefusalBody.Refusal refusal) {
        return detail(refusal) + "\n";
    }

    private static String detail(RefusalBody.Refusal refusal) {
        if (refusal.status() != 429) {
            return "The limit cannot be checked at the moment." + when(refusal);
        }
        return refusal.retryAfterSeconds().isPresent()
                ? "The limit is used up." + when(refusal)
                : "The request costs more than the limit ever allows at once.";
    }

    private static String when(RefusalBody.Refusal refusal) {
        OptionalLong retryAfter = refusal.retryAfterSeconds();
        return retryAfter.isPresent() ? " Try again in " + retryAfter.getAsLong() + " s." : "";
    }

    private static String escaped(String name) {
        return name.replace("\\", "\\\\").replace("\"", "\\\"");
    }
}
