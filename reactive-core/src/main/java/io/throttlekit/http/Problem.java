package io.throttlekit.http;

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
                .append(detail(refusal))
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
        OptionalLong retryAfter = refusal.retryAfterSeconds();
        String when = retryAfter.isPresent() ? " Try again in " + retryAfter.getAsLong() + " s." : "";
        if (refusal.status() != 429) {
            return "The limit cannot be checked at the moment." + when;
        }
        return retryAfter.isPresent()
                ? "The limit is used up." + when
                : "The request costs more than the limit ever allows at once.";
    }

    private static String escaped(String name) {
        return name.replace("\\", "\\\\").replace("\"", "\\\"");
    }
}
