package io.throttlekit.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.conformance.VectorReplay.Difference;
import io.throttlekit.conformance.VectorReplay.Report;
import io.throttlekit.store.MemoryStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class VectorReplayTest {
    @TempDir
    Path directory;

    private Report replay(VectorReplay replay, String text) {
        Path file = directory.resolve("some.json");
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Report[] report = new Report[1];
        StepVerifier.create(replay.replay(
                        file,
                        clock -> MemoryStore.builder()
                                .clock(clock)
                                .sweepInterval(Duration.ZERO)
                                .build()))
                .consumeNextWith(r -> report[0] = r)
                .verifyComplete();
        return report[0];
    }

    private Report replay(String text) {
        return replay(VectorReplay.create(), text);
    }

    private static String suite(String kind, String options, String ops) {
        return """
                {"version": 1, "suites": [
                  {"name": "s", "strategy": {"kind": "%s", "options": %s}, "key": "k", "ops": [%s]}]}""".formatted(kind, options, ops);
    }

    private static String check(long nowMicros, boolean allowed) {
        return "{\"op\": \"check\", \"nowMicros\": " + nowMicros + ", \"cost\": 1, \"expect\": {\"allowed\": " + allowed
                + "}}";
    }

    @Test
    void countsWhatPassesAndReportsWhatDiffers() {
        String ops = String.join(",", check(0, true), check(0, true), check(0, false));

        Report report = replay(suite("gcra", "{\"limit\": 1, \"periodMs\": 1000}", ops));

        assertThat(report.passed()).isEqualTo(2);
        assertThat(report.failed()).isEqualTo(1);
        Difference difference = report.differences().get(0);
        assertThat(difference.index()).isEqualTo(1);
        assertThat(difference.toString())
                .startsWith(
                        "some.json s op 1 {\"op\":\"check\",\"nowMicros\":0,\"cost\":1}: expected {\"allowed\":true}")
                .contains("\"retryAfterMs\":1000");
    }

    @Test
    void takesDecimalRatesAsTheyAreWritten() {
        // 167 units take exactly 100 s; the double nearest to 1.67 would leave the last of them a bit short.
        String options = "{\"limit\": 1.67, \"periodMs\": 1000, \"burst\": 167}";
        String ops = """
                {"op": "checkUpTo", "nowMicros": 0, "min": 1, "max": 200,
                 "expect": {"granted": 167, "remaining": 0, "resetAtMs": 100000}},
                {"op": "peek", "nowMicros": 99999999, "expect": {"remaining": 166}},
                {"op": "peek", "nowMicros": 100000000, "expect": {"remaining": 167}}""";

        assertThat(replay(suite("gcra", options, ops)).differences()).isEmpty();
    }

    @Test
    void leavesOutOptionsThatHaveDefaults() {
        Map<String, String> optionsOfKinds = Map.of(
                "gcra", "{\"limit\": 2, \"periodMs\": 1000}",
                "slidingWindow", "{\"limit\": 2, \"windowMs\": 1000}",
                "quota", "{\"limit\": 2, \"cadence\": \"calendar-week\"}");

        optionsOfKinds.forEach((kind, options) -> {
            Report report = replay(suite(kind, options, check(0, true)));

            assertThat(report.differences()).as(kind).isEmpty();
            assertThat(report.passed()).as(kind).isEqualTo(1);
        });
    }

    @Test
    void failsEveryOperationOfAKindItDoesNotKnow() {
        Report report = replay(suite("hourglass", "{}", check(0, true) + "," + check(1, true)));

        assertThat(report.failed()).isEqualTo(2);
        assertThat(report.differences())
                .singleElement()
                .hasToString("some.json s: expected a known kind, got hourglass");
    }

    @Test
    void skipsKindsItIsToldTo() {
        String text = suite("hourglass", "{}", check(0, true));

        Report report = replay(VectorReplay.create().skipping(Set.of("hourglass")), text);

        assertThat(report).isEqualTo(new Report(0, 0, 1, List.of()));
    }

    @Test
    void playsKindsThatAreAdded() {
        VectorReplay replay =
                VectorReplay.create().with("hourglass", (options, store, key) -> op -> Mono.just(Map.of("grains", 7L)));
        String op = "{\"op\": \"turn\", \"nowMicros\": 5, \"expect\": {\"grains\": %d}}";

        Report report = replay(replay, suite("hourglass", "{}", op.formatted(7) + "," + op.formatted(8)));

        assertThat(report.passed()).isEqualTo(1);
        assertThat(report.failed()).isEqualTo(1);
    }

    @Test
    void failsOperationsThatItCannotPlay() {
        String ops = """
                {"op": "borrow", "nowMicros": 0}, {"op": "check", "cost": 1}, {"op": "check", "nowMicros": 0, "cost": 0},
                {"op": "peek", "nowMicros": 0, "expect": {"colour": 1}}, {"op": "peek", "nowMicros": 0, "expect": 1},
                {"op": "peek", "nowMicros": 0}""";

        Report report = replay(suite("gcra", "{\"limit\": 1, \"periodMs\": 1000}", ops));

        assertThat(report.differences()).extracting(Difference::index).containsExactly(0, 1, 2, 3, 4);
        assertThat(report.passed()).isEqualTo(1);
    }

    @Test
    void failsASuiteWhoseOptionsMakeNoStrategy() {
        Report report = replay(suite("gcra", "{\"limit\": 0, \"periodMs\": 1000}", check(0, true)));

        assertThat(report.failed()).isEqualTo(1);
        assertThat(report.differences().toString()).contains("limit must be");
    }

    @Test
    void failsAFileThatIsNone() {
        for (String text :
                new String[] {"", "{", "[]", "{\"version\": 2}", "{\"version\": 1}", "{\"version\": 1, \"suites\": [7]}"
                }) {
            Report report = replay(text);

            assertThat(report.failed()).as(text).isEqualTo(1);
            assertThat(report.differences().toString()).as(text).contains("some.json");
        }
    }
}
