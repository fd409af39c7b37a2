package io.throttlekit.examples;

import static java.util.Objects.requireNonNull;

import io.throttlekit.Clock;
import io.throttlekit.Store;
import io.throttlekit.conformance.VectorReplay;
import io.throttlekit.conformance.VectorReplay.Report;
import io.throttlekit.store.MemoryStore;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/**
 * Replays every {@code *.json} file of a directory on a store of its own and compares the answers to the last
 * digit.
 *
 * <pre>{@code ./mvnw -q -Preplay -Dvectors=DIR -Dstore=memory|redis|pg -Dpath=program|function [-Dskip=KIND,KIND]}</pre>
 *
 * <p>Prints the first differences and, as the last line, {@code N passed, M failed}. Exits with 0 when none
 * failed, 1 when one did, 2 when an argument is wrong.
 */
public final class Replay {
    private static final int SHOWN = 20;

    private final Function<String, @Nullable String> arguments;
    private final PrintStream out;

    Replay(Function<String, @Nullable String> arguments, PrintStream out) {
        this.arguments = arguments;
        this.out = out;
    }

    /** How a program's store runs what it is given: the strategy's program, or its function. */
    enum Route {
        PROGRAM,
        FUNCTION
    }

    /** A store to replay on, and the server behind it. */
    interface Backend extends AutoCloseable {
        Store open(Clock clock);

        @Override
        default void close() {}
    }

    /** Starts a server that nothing else uses, where the store has one. */
    private static final Map<String, Function<Route, Backend>> BACKENDS = Map.of(
            "memory", route -> Replay::memory,
            "redis", RedisBackend::start,
            "pg", PgBackend::new);

    private static Store memory(Clock clock) {
        return MemoryStore.builder().clock(clock).sweepInterval(Duration.ZERO).build();
    }

    /**
     * Runs the replay that the system properties {@code vectors}, {@code store}, {@code path} and {@code skip}
     * describe.
     *
     * @param args none
     */
    public static void main(String[] args) {
        int status;
        try {
            status = new Replay(System::getProperty, System.out).run();
        } catch (IllegalArgumentException e) {
            System.err.println("replay: " + e.getMessage());
            status = 2;
        }
        System.out.flush();
        System.exit(status);
    }

    /**
     * Replays and prints.
     *
     * @return the exit status
     * @throws IllegalArgumentException if an argument is wrong
     */
    int run() {
        Route route =
                Route.valueOf(oneOf("path", List.of("program", "function")).toUpperCase(Locale.ROOT));
        Function<Route, Backend> start = requireNonNull(BACKENDS.get(oneOf("store", List.of("memory", "redis", "pg"))));
        List<Path> files = files(argument("vectors"));
        VectorReplay replay = VectorReplay.create().skipping(skipped());
        try (Backend backend = start.apply(route)) {
            Report report = Flux.fromIterable(files)
                    .concatMap(file -> replay.replay(file, backend::open))
                    .reduce(Report::plus)
                    .blockOptional()
                    .orElseThrow();
            return print(report);
        }
    }

    private int print(Report report) {
        report.differences().stream().limit(SHOWN).forEach(out::println);
        int more = report.differences().size() - SHOWN;
        if (more > 0) {
            out.println("... and " + more + " more");
        }
        out.println(report.passed() + " passed, " + report.failed() + " failed");
        return report.failed() == 0 ? 0 : 1;
    }

    private String argument(String name) {
        return Optional.ofNullable(arguments.apply(name))
                .filter(value -> !value.isBlank())
                .orElseThrow(() -> new IllegalArgumentException("-D" + name + "=... is missing"));
    }

    private String oneOf(String name, List<String> words) {
        String word = argument(name);
        if (!words.contains(word)) {
            throw new IllegalArgumentException(
                    "-D" + name + " must be one of " + String.join(", ", words) + ", was " + word);
        }
        return word;
    }

    private Set<String> skipped() {
        return Optional.ofNullable(arguments.apply("skip")).stream()
                .flatMap(skip -> Arrays.stream(skip.split(",")))
                .map(String::strip)
                .filter(kind -> !kind.isEmpty())
                .collect(Collectors.toSet());
    }

    private static List<Path> files(String directory) {
        try (Stream<Path> files = Files.list(Path.of(directory))) {
            List<Path> vectors = files.filter(file -> file.toString().endsWith(".json"))
                    .sorted()
                    .toList();
            if (vectors.isEmpty()) {
                throw new IllegalArgumentException("-Dvectors has no *.json files: " + directory);
            }
            return vectors;
        } catch (IOException | InvalidPathException e) {
            throw new IllegalArgumentException("-Dvectors must be a directory that can be read, was " + directory, e);
        }
    }
}
