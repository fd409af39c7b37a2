package io.throttlekit.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The examples print what their comments say. */
class ExamplesTest {
    private static List<String> printed(Consumer<PrintStream> example) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        example.accept(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        return bytes.toString(StandardCharsets.UTF_8).lines().toList();
    }

    @Test
    void monthlyQuota() {
        assertThat(printed(MonthlyQuota::run))
                .containsExactly(
                        "2026-03-31T23:59:58+02:00[Europe/Berlin] allowed, 2 left",
                        "2026-03-31T23:59:58+02:00[Europe/Berlin] allowed, 1 left",
                        "2026-03-31T23:59:58+02:00[Europe/Berlin] allowed, 0 left",
                        "2026-03-31T23:59:58+02:00[Europe/Berlin] denied for PT2S, until"
                                + " 2026-04-01T00:00+02:00[Europe/Berlin]",
                        "2026-04-01T00:00+02:00[Europe/Berlin] allowed, 2 left");
    }

    @Test
    void twoTierFleet() {
        assertThat(printed(TwoTierFleet::run))
                .containsExactly(
                        "strict: 1200 requests, 1000 allowed, 1200 calls of the store",
                        "leased: 1200 requests, 1000 allowed, 220 calls of the store");
    }
}
