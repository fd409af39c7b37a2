package io.throttlekit.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.throttlekit.Decision;
import io.throttlekit.Strategy;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.Quota;
import java.time.Duration;
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

    private static RateLimitHeaders headers(String policy, Strategy<?> strategy) {
        return RateLimitHeaders.of(RateLimitHeaders.Format.DRAFT_11, policy, strategy);
    }

    @Test
    void writesBothFieldsOfAnAllow() {
        Decision decision = Decision.allowed(1, 100, 42, NOW + 34_001, NOW);

        Map<String, String> fields = headers("burst", PER_MINUTE).of(decision);

        assertThat(fields)
                .containsExactly(
                        Map.entry("RateLimit-Policy", "\"burst\";q=100;w=60"),
                        Map.entry("RateLimit", "\"burst\";r=42;t=35"));
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "200, 1", "999, 1", "1000, 1", "1001, 2", "9007199254740991, 9007199254741"})
    void roundsRetryAfterUpToWholeSeconds(long waitMs, String seconds) {
        Decision decision = Decision.denied(1, 100, 0, NOW + waitMs, waitMs, NOW);

        Map<String, String> fields = headers("burst", PER_MINUTE).of(decision);

        assertThat(fields).containsEntry("Retry-After", seconds);
    }

    @Test
    void hasNoRetryAfterWhenWaitingIsNoUse() {
        Decision decision = Decision.denied(101, 100, 100, NOW, 60_000, NOW);

        Map<String, String> fields = headers("burst", PER_MINUTE).of(decision);

        assertThat(fields).doesNotContainKey("Retry-After").containsEntry("RateLimit", "\"burst\";r=100;t=0");
    }

    @Test
    void resetsNotLaterThanRetryAfterOnADenial() {
        Decision decision = Decision.denied(1, 100, 0, NOW + 60_000, 1_500, NOW);

        Map<String, String> fields = headers("burst", PER_MINUTE).of(decision);

        assertThat(fields).containsEntry("RateLimit", "\"burst\";r=0;t=2").containsEntry("Retry-After", "2");
    }

    @Test
    void leavesTheWindowOutWhenItIsNotConstant() {
        Decision decision = Decision.allowed(1, 1000, 999, NOW + 1, NOW);

        Map<String, String> fields = headers("month", Quota.monthly(1000)).of(decision);

        assertThat(fields).containsEntry("RateLimit-Policy", "\"month\";q=1000");
    }

    @Test
    void roundsTheWindowUpToWholeSeconds() {
        Decision decision = Decision.allowed(1, 100, 99, NOW + 1, NOW);

        Map<String, String> fields =
                headers("fast", Gcra.of(100, Duration.ofMillis(1500))).of(decision);

        assertThat(fields).containsEntry("RateLimit-Policy", "\"fast\";q=100;w=2");
    }

    @Test
    void staysWithinTheIntegersOfStructuredFields() {
        Strategy<?> huge = FixedWindow.of(Strategy.MAX_COST, Duration.ofSeconds(1));
        Decision decision = Decision.allowed(1, huge.limit(), huge.limit() - 1, NOW + 1000, NOW);

        Map<String, String> fields = headers("huge", huge).of(decision);

        assertThat(fields)
                .containsEntry("RateLimit-Policy", "\"huge\";q=999999999999999;w=1")
                .containsEntry("RateLimit", "\"huge\";r=999999999999999;t=1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"default", "a b", "say \"no\"", "back\\slash", "\\\"", "~!"})
    void writesNamesThatAnIndependentParserReadsBack(String policy) {
        Decision decision = Decision.allowed(1, 100, 42, NOW + 34_001, NOW);

        Map<String, String> fields = headers(policy, PER_MINUTE).of(decision);

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
                .isThrownBy(() -> headers(policy, PER_MINUTE))
                .withMessageStartingWith("policy must ");
    }
}
