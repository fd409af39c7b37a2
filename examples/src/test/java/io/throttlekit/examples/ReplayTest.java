package io.throttlekit.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReplayTest {
    private static final String SUITE = """
            {"version": 1, "suites": [{"name": "s", "strategy": {"kind": "%s", "options": {"limit": 1, "periodMs": 9}},
              "key": "k", "ops": [{"op": "check", "nowMicros": 5, "cost": 1, "expect": {"allowed": %s}}]}]}""";

    @TempDir
    Path directory;

    private final Map<String, String> arguments = new HashMap<>();
    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    @BeforeEach
    void takesTheseArguments() {
        arguments.put("vectors", directory.toString());
        arguments.put("store", "memory");
        arguments.put("path", "program");
    }

    private void file(String name, String text) throws IOException {
        Files.writeString(directory.resolve(name), text);
    }

    private int run() {
        return new Replay(arguments::get, new PrintStream(printed, true, UTF_8)).run();
    }

    private List<String> lines() {
        return printed.toString(UTF_8).lines().toList();
    }

    @Test
    void succeedsWhenAllPass() throws IOException {
        file("a.json", SUITE.formatted("gcra", "true"));
        file("b.json", SUITE.formatted("gcra", "true"));
        file("notes.txt", "no vectors");

        assertThat(run()).isZero();
        assertThat(lines()).containsExactly("2 passed, 0 failed");
    }

    @Test
    void showsWhatDiffersAndFails() throws IOException {
        file("a.json", SUITE.formatted("gcra", "false"));
        file("b.json", "{");
        file("c.json", SUITE.formatted("gcra", "true"));

        assertThat(run()).isEqualTo(1);
        assertThat(lines()).hasSize(3).last().isEqualTo("1 passed, 2 failed");
        assertThat(lines().get(0)).startsWith("a.json s op 0");
        assertThat(lines().get(1)).startsWith("b.json");
    }

    @Test
    void failsAtAnUnknownKindUnlessItIsSkipped() throws IOException {
        file("a.json", SUITE.formatted("hourglass", "true"));
        file("b.json", SUITE.formatted("gcra", "true"));

        assertThat(run()).isEqualTo(1);
        arguments.put("skip", "sundial, hourglass");
        assertThat(run()).isZero();
        assertThat(lines()).last().isEqualTo("1 passed, 0 failed");
    }

    @Test
    void refusesWrongArguments() throws IOException {
        file("a.json", SUITE.formatted("gcra", "true"));

        refuses("store", "paper", "-Dstore must be one of memory, redis, pg, was paper");
        refuses("path", "", "-Dpath=... is missing");
        refuses("path", "PROGRAM", "-Dpath must be one of program, function, was PROGRAM");
        refuses("vectors", directory.resolve("none").toString(), "-Dvectors must be a directory");
    }

    private void refuses(String name, String value, String message) {
        String before = String.valueOf(arguments.put(name, value));

        assertThatIllegalArgumentException().isThrownBy(this::run).withMessageStartingWith(message);

        arguments.put(name, before);
    }
}
