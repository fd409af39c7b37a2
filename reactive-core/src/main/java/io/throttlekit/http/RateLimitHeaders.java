package io.throttlekit.http;

import io.throttlekit.Decision;
import io.throttlekit.Strategy;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Writes the decisions of limits as response header fields.
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

    /**
     * Fields that belong together. The structured ones have changed from draft to draft, so a version of them is
     * chosen by name.
     */
    public enum Family {
        /**
         * {@code RateLimit-Policy: "name";q=100;w=60} and {@code RateLimit: "name";r=42;t=35}, as in draft 11;
         * several limits are one list.
         */
        STRUCTURED_DRAFT_11,
        /** {@code RateLimit-Limit}, {@code -Remaining} and {@code -Reset} in seconds from now, of the tightest limit. */
        RATE_LIMIT_TRIPLE,
        /**
         * {@code X-RateLimit-Limit}, {@code -Remaining} and {@code -Reset} in seconds of the epoch, of the tightest
         * limit.
         */
        X_RATE_LIMIT_TRIPLE
    }

    /** The largest integer a structured field can carry: 15 digits. */
    private static final long MAX_INTEGER = 999_999_999_999_999L;

    /** A denial is tighter than any allow; then what has less left, and of these what takes longer to come back. */
    private static final Comparator<Decision> TIGHTEST_FIRST = Comparator.comparing(
                    (Decision decision) -> decision.allowed())
            .thenComparingLong(Decision::remaining)
            .thenComparing(Comparator.comparingLong(RateLimitHeaders::resetMs).reversed());

    private final Set<Family> families;

    private RateLimitHeaders(Set<Family> families) {
        this.families = families;
    }

    /**
     * Headers of some families.
     *
     * @param families any of them; none for {@code Retry-After} alone
     * @return the writer
     */
    public static RateLimitHeaders of(Family... families) {
        Set<Family> set = EnumSet.noneOf(Family.class);
        set.addAll(Arrays.asList(families));
        return new RateLimitHeaders(set);
    }

    /**
     * The fields that describe decisions: those of each family, and {@code Retry-After} on a denial that time
     * can heal.
     *
     * @param reports the limits of one request and what they decided, in order; none makes no fields
     * @return names and values, in order; the caller's own
     */
    public Map<String, String> of(List<Report> reports) {
        return new LinkedHashMap<>(fields(reports));
    }

    /** The same, to be added to by this package alone. */
    Fields fields(List<Report> reports) {
        Fields fields = new Fields(2);
        if (reports.isEmpty()) {
            return fields;
        }
        if (families.contains(Family.STRUCTURED_DRAFT_11)) {
            addLists(fields, reports);
        }
        if (families.contains(Family.RATE_LIMIT_TRIPLE) || families.contains(Family.X_RATE_LIMIT_TRIPLE)) {
            addTriples(fields, tightest(reports));
        }
        OptionalLong retryAfter = retryAfterSeconds(reports);
        if (retryAfter.isPresent()) {
            fields.add(RETRY_AFTER, Long.toString(retryAfter.getAsLong()));
        }
        return fields;
    }

    private static void addLists(Fields fields, List<Report> reports) {
        String policies = reports.get(0).policy.item;
        String limits = limit(reports.get(0));
        for (int i = 1; i < reports.size(); i++) {
            policies += ", " + reports.get(i).policy.item;
            limits += ", " + limit(reports.get(i));
        }
        fields.add(RATE_LIMIT_POLICY, policies);
        fields.add(RATE_LIMIT, limits);
    }

    private static String limit(Report report) {
        Decision decision = report.decision;
        return report.policy.quoted + ";r=" + integer(decision.remaining()) + ";t=" + integer(resetSeconds(decision));
    }

    private void addTriples(Fields fields, Decision tightest) {
        String limit = Long.toString(tightest.limit());
        String remaining = Long.toString(tightest.remaining());
        if (families.contains(Family.RATE_LIMIT_TRIPLE)) {
            fields.add("RateLimit-Limit", limit);
            fields.add("RateLimit-Remaining", remaining);
            fields.add("RateLimit-Reset", Long.toString(resetSeconds(tightest)));
        }
        if (families.contains(Family.X_RATE_LIMIT_TRIPLE)) {
            fields.add("X-RateLimit-Limit", limit);
            fields.add("X-RateLimit-Remaining", remaining);
            fields.add("X-RateLimit-Reset", Long.toString(ceilSeconds(tightest.decidedAtMs() + resetMs(tightest))));
        }
    }

    private static Decision tightest(List<Report> reports) {
        Decision tightest = reports.get(0).decision;
        for (Report report : reports) {
            if (TIGHTEST_FIRST.compare(report.decision, tightest) < 0) {
                tightest = report.decision;
            }
        }
        return tightest;
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

    /**
     * Whether a field is a list, to which several admissions of one request each add a line. Of the other fields
     * the last one written counts.
     *
     * @param name of the field, as it is written here
     * @return true for the structured fields
     */
    public static boolean isList(String name) {
        return name.equals(RATE_LIMIT) || name.equals(RATE_LIMIT_POLICY);
    }

    /** The longest wait of the denials; empty when one of them can never be healed. */
    static OptionalLong retryAfterSeconds(List<Report> reports) {
        long longest = 0;
        for (Report report : reports) {
            if (!report.decision.allowed()) {
                OptionalLong one = retryAfterSeconds(report.decision);
                if (one.isEmpty()) {
                    return one;
                }
                longest = Math.max(longest, one.getAsLong());
            }
        }
        return longest == 0 ? OptionalLong.empty() : OptionalLong.of(longest);
    }

    /** Whole seconds, rounded up, at least 1. */
    static long seconds(Duration duration) {
        long whole = duration.getSeconds();
        return Math.max(1, duration.getNano() > 0 && whole < Long.MAX_VALUE ? whole + 1 : whole);
    }

    private static long resetSeconds(Decision decision) {
        return ceilSeconds(resetMs(decision));
    }

    /** The whole limit may come back much later than the units a denied request waits for: the earlier counts. */
    private static long resetMs(Decision decision) {
        long reset = Math.max(0, decision.resetAtMs() - decision.decidedAtMs());
        return decision.allowed() || decision.exceedsLimit() ? reset : Math.min(reset, decision.retryAfterMs());
    }

    private static long ceilSeconds(long ms) {
        return ms / 1000 + (ms % 1000 > 0 ? 1 : 0);
    }

    private static long integer(long value) {
        return Math.min(value, MAX_INTEGER);
    }

    /** A limit's name and quota, as they are written. */
    public static final class Policy {
        private final String name;
        private final String quoted;
        private final String item;

        private Policy(String name, String quoted, String item) {
            this.name = name;
            this.quoted = quoted;
            this.item = item;
        }

        /**
         * The policy of a limit.
         *
         * @param name of the limit: printable ASCII, at least one character
         * @param strategy what decides; one without a constant window is written without {@code w}
         * @return the policy
         * @throws IllegalArgumentException if the name cannot be written
         */
        public static Policy of(String name, Strategy<?> strategy) {
            String quoted = quoted(name);
            StringBuilder item = new StringBuilder(quoted).append(";q=").append(integer(strategy.limit()));
            Duration window = strategy.window();
            if (window != null) {
                item.append(";w=").append(integer(seconds(window)));
            }
            return new Policy(name, quoted, item.toString());
        }

        /**
         * The limit's name.
         *
         * @return as it was given
         */
        public String name() {
            return name;
        }

        /** A structured field's String: printable ASCII in quotes, with the quote and the backslash escaped. */
        static String quoted(String text) {
            if (text.isEmpty()) {
                throw new IllegalArgumentException("policy must have at least one character");
            }
            StringBuilder quoted = new StringBuilder("\"");
            for (int i = 0; i < text.length(); i++) {
                char c = text.charAt(i);
                if (c < ' ' || c > '~') {
                    throw new IllegalArgumentException("policy must be printable ASCII, has U+"
                            + String.format("%04X", (int) c) + " at index " + i);
                }
                if (c == '"' || c == '\\') {
                    quoted.append('\\');
                }
                quoted.append(c);
            }
            return quoted.append('"').toString();
        }

        @Override
        public String toString() {
            return item;
        }
    }

    /**
     * What one limit decided.
     *
     * @param policy of the limit
     * @param decision of the limit
     */
    public record Report(Policy policy, Decision decision) {
        /** Checks that both are there. */
        public Report {
            Objects.requireNonNull(policy, "policy");
            Objects.requireNonNull(decision, "decision");
        }
    }
}
