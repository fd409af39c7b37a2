package io.throttlekit.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.throttlekit.Decision;
import io.throttlekit.Strategy;
import io.throttlekit.http.RateLimitHeaders.Family;
import io.throttlekit.http.RateLimitHeaders.Policy;
import io.throttlekit.http.RateLimitHeaders.Report;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.Quota;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.greenbytes.http.sfv.Parser;
import org.greenbytes.http.sfv.StringItem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RateLimitHeadersTest {
    private static final long NOW = 1_700_000_000_123L;
    private static final Strategy<?> PER_MINUTE = FixedWindow.of(100, Duration.ofMinutes(1));

    private static Map<String, String> fields(String name, Strategy<?> strategy, Decision decision) {
        return RateLimitHeaders.of(Family.STRUCTURED_DRAFT_11)
                .of(List.of(new Report(Policy.of(name, strategy), decision)));
    }

    @Test
    void writesBothFieldsOfAnAllow() {
        Decision decision = Decision.allowed(1, 100, 42, NOW + 34_001, NOW);

        Map<String, String> fields = fields("burst", PER_MINUTE, decision);

        assertThat(fields)
                .containsExactly(
                        Map.entry("RateLimit-Policy", "\"burst\";q=100;w=60"),
                        Map.entry("RateLimit", "\"burst\";r=42;t=35"));
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "200, 1", "999, 1", "1000, 1", "1001, 2", "9007199254740991, 9007199254741"})
    void roundsRetryAfterUpToWholeSeconds(long waitMs, String seconds) {
        Decision decision = Decision.denied(1, 100, 0, NOW + waitMs, waitMs, NOW);

        Map<String, String> fields = fields("burst", PER_MINUTE, decision);

        assertThat(fields).containsEntry("Retry-After", seconds);
    }

    @Test
    void hasNoRetryAfterWhenWaitingIsNoUse() {
        Decision decision = Decision.denied(101, 100, 100, NOW, 60_000, NOW);

        Map<String, String> fields = fields("burst", PER_MINUTE, decision);

        assertThat(fields).doesNotContainKey("Retry-After").containsEntry("RateLimit", "\"burst\";r=100;t=0");
    }

    @Test
    void resetsNotLaterThanRetryAfterOnADenial() {
        Decision decision = Decision.denied(1, 100, 0, NOW + 60_000, 1_500, NOW);

        Map<String, String> fields = fields("burst", PER_MINUTE, decision);

        assertThat(fields).containsEntry("RateLimit", "\"burst\";r=0;t=2").containsEntry("Retry-After", "2");
    }

    @Test
    void leavesTheWindowOutWhenItIsNotConstant() {
        Decision decision = Decision.allowed(1, 1000, 999, NOW + 1, NOW);

        Map<String, String> fields = fields("month", Quota.monthly(1000), decision);

        assertThat(fields).containsEntry("RateLimit-Policy", "\"month\";q=1000");
    }

    @Test
    void roundsTheWindowUpToWholeSeconds() {
        Decision decision = Decision.allowed(1, 100, 99, NOW + 1, NOW);

        Map<String, String> fields = fields("fast", Gcra.of(100, Duration.ofMillis(1500)), decision);

        assertThat(fields).containsEntry("RateLimit-Policy", "\"fast\";q=100;w=2");
    }

    @Test
    void staysWithinTheIntegersOfStructuredFields() {
        Strategy<?> huge = FixedWindow.of(Strategy.MAX_COST, Duration.ofSeconds(1));
        Decision decision = Decision.allowed(1, huge.limit(), huge.limit() - 1, NOW + 1000, NOW);

        Map<String, String> fields = fields("huge", huge, decision);

        assertThat(fields)
                .containsEntry("RateLimit-Policy", "\"huge\";q=999999999999999;w=1")
                .containsEntry("RateLimit", "\"huge\";r=999999999999999;t=1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"default", "a b", "say \"no\"", "back\\slash", "\\\"", "~!"})
    void writesNamesThatAnIndependentParserReadsBack(String policy) {
        Decision decision = Decision.allowed(1, 100, 42, NOW + 34_001, NOW);

        Map<String, String> fields = fields(policy, PER_MINUTE, decision);

        for (String field : fields.values()) {
            Object item = Parser.parseList(field).get().get(0);
            assertThat(item)
                    .isInstanceOfSatisfying(
                            StringItem.class, name -> assertThat(name.get()).isEqualTo(policy));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "tab\t", "line\r\nSet-Cookie: a=b", "é", "\u007f"})
    void refusesNamesThatNoHeaderCanCarry(String policy) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Policy.of(policy, PER_MINUTE))
                .withMessageStartingWith("policy must ");
    }

    @Test
    void writesSeveralLimitsAsOneListThatAnIndependentParserReadsBack() {
        List<Report> reports = List.of(
                new Report(Policy.of("burst, \"fast\"", PER_MINUTE), Decision.allowed(1, 100, 42, NOW + 34_001, NOW)),
                new Report(
                        Policy.of("month", Quota.monthly(1000)), Decision.denied(1, 1000, 0, NOW + 9_000, 1_500, NOW)));

        Map<String, String> fields =
                RateLimitHeaders.of(Family.STRUCTURED_DRAFT_11).of(reports);

        assertThat(Parser.parseList(fields.get("RateLimit")).get())
                .map(item -> ((StringItem) item).get())
                .containsExactly("burst, \"fast\"", "month");
        assertThat(Parser.parseList(fields.get("RateLimit")).get())
                .map(item -> ((StringItem) item).getParams().serialize())
                .containsExactly(";r=42;t=35", ";r=0;t=2");
        assertThat(Parser.parseList(fields.get("RateLimit-Policy")).get())
                .map(item -> ((StringItem) item).getParams().serialize())
                .containsExactly(";q=100;w=60", ";q=1000");
        assertThat(fields).containsEntry("Retry-After", "2");
    }

    @Test
    void showsTheTightestLimitInTheTriples() {
        List<Report> reports = List.of(
                new Report(Policy.of("a", PER_MINUTE), Decision.allowed(1, 100, 42, NOW + 34_001, NOW)),
                new Report(Policy.of("b", PER_MINUTE), Decision.allowed(1, 50, 7, NOW + 9_000, NOW)),
                new Report(Policy.of("c", PER_MINUTE), Decision.allowed(1, 10, 9, NOW + 1, NOW)));

        Map<String, String> fields = RateLimitHeaders.of(Family.RATE_LIMIT_TRIPLE, Family.X_RATE_LIMIT_TRIPLE)
                .of(reports);

        assertThat(fields)
                .containsExactly(
                        Map.entry("RateLimit-Limit", "50"),
                        Map.entry("RateLimit-Remaining", "7"),
                        Map.entry("RateLimit-Reset", "9"),
                        Map.entry("X-RateLimit-Limit", "50"),
                        Map.entry("X-RateLimit-Remaining", "7"),
                        Map.entry("X-RateLimit-Reset", Long.toString((NOW + 9_000) / 1000 + 1)));
    }

    @Test
    void showsTheDenialInTheTriplesThoughAnotherLimitHasLessLeft() {
        List<Report> reports = List.of(
                new Report(Policy.of("a", PER_MINUTE), Decision.allowed(1, 100, 0, NOW + 34_001, NOW)),
                new Report(Policy.of("b", PER_MINUTE), Decision.denied(5, 50, 4, NOW + 9_000, 1_001, NOW)));

        Map<String, String> fields =
                RateLimitHeaders.of(Family.RATE_LIMIT_TRIPLE).of(reports);

        assertThat(fields)
                .containsExactly(
                        Map.entry("RateLimit-Limit", "50"),
                        Map.entry("RateLimit-Remaining", "4"),
                        Map.entry("RateLimit-Reset", "2"),
                        Map.entry("Retry-After", "2"));
    }

    @Test
    void writesRetryAfterAloneWithoutAFamily() {
        Report report = new Report(Policy.of("a", PER_MINUTE), Decision.denied(1, 100, 0, NOW + 200, 200, NOW));

        Map<String, String> fields = RateLimitHeaders.of().of(List.of(report));

        assertThat(fields).containsExactly(Map.entry("Retry-After", "1"));
    }
}
