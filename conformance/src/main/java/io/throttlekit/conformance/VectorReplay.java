package io.throttlekit.conformance;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.throttlekit.Clock;
import io.throttlekit.ManualClock;
import io.throttlekit.Store;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Replays recorded operations with their expected answers, the test vectors, on any store.
 *
 * <p>A file is {@code {version: 1, suites: [{name, strategy: {kind, options}, key, ops: [...]}]}}. Each
 * operation carries the time it happens at and, where it answers, what the answer must be, to the last digit;
 * an operation that expects nothing passes when it does not fail. Every suite runs on a store that is opened
 * for it, with a clock that stands where its first operation is, and on a key of its own.
 *
 * <pre>{@code
 * VectorReplay.create()
 *         .replayBundled(clock -> MemoryStore.builder().clock(clock).build())
 *         .doOnNext(System.out::println);
 * }</pre>
 *
 * <p>Immutable. Everything is cold; a report comes as a value even when all of it failed.
 */
public final class VectorReplay {
    private static final List<String> BUNDLED =
            List.of("fixedWindow", "gcra", "leakyBucket", "quota", "slidingWindow", "slidingWindowLog", "tokenBucket");
    private static final Duration DEADLINE = Duration.ofSeconds(10);
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)
            .build();

    private final Map<String, Kind> kinds;
    private final Set<String> skipped;

    private VectorReplay(Map<String, Kind> kinds, Set<String> skipped) {
        this.kinds = Map.copyOf(kinds);
        this.skipped = Set.copyOf(skipped);
    }

    /** Makes what plays the operations of one suite. */
    @FunctionalInterface
    public interface Kind {
        /**
         * Prepares a suite.
         *
         * @param options the {@code options} of the suite's strategy
         * @param store where the suite runs
         * @param key the key it runs on
         * @return what plays its operations, in order
         * @throws IllegalArgumentException if the options make no strategy
         */
        Player open(JsonNode options, Store store, String key);
    }

    /** Plays the operations of one suite. */
    @FunctionalInterface
    public interface Player {
        /**
         * Plays one operation, at the time that the store's clock tells.
         *
         * @param op the operation
         * @return the fields of the answer by name, numbers as {@code Long}; empty when there is none
         * @throws IllegalArgumentException if there is no such operation or an argument is missing
         */
        Mono<Map<String, Object>> play(JsonNode op);
    }

    /**
     * One operation, or one suite or file as a whole, that did not come out as expected.
     *
     * @param where the file and the suite
     * @param index the operation's place in its suite, from 0; -1 when it is about the whole
     * @param operation the operation as it stands in the file
     * @param expected what the file says
     * @param got what the store said, or the error
     */
    public record Difference(String where, int index, String operation, String expected, String got) {
        @Override
        public String toString() {
            String at = index < 0 ? where : where + " op " + index + " " + operation;
            return at + ": expected " + expected + ", got " + got;
        }
    }

    /**
     * What became of a replay.
     *
     * @param passed operations that came out as expected
     * @param failed operations that did not; a file or a suite without operations that cannot be played counts
     *     as one
     * @param skipped operations of kinds that were to be skipped
     * @param differences what went wrong, in order; a suite that cannot be played is one difference
     */
    public record Report(long passed, long failed, long skipped, List<Difference> differences) {
        static final Report NONE = new Report(0, 0, 0, List.of());

        /** Copies the list. */
        public Report {
            differences = List.copyOf(differences);
        }

        /**
         * Both reports as one.
         *
         * @param next what was replayed afterwards
         * @return the sums, and the differences of this before those of {@code next}
         */
        public Report plus(Report next) {
            List<Difference> all = new ArrayList<>(differences);
            all.addAll(next.differences);
            return new Report(passed + next.passed, failed + next.failed, skipped + next.skipped, all);
        }

        private static Report failed(long operations, Difference difference) {
            return new Report(0, operations, 0, List.of(difference));
        }
    }

    /**
     * A replay of all kinds that this library has strategies for.
     *
     * @return a new replay
     */
    public static VectorReplay create() {
        return new VectorReplay(StrategyKinds.all(), Set.of());
    }

    /**
     * The same replay with one more kind.
     *
     * @param name the {@code kind} as it stands in the files
     * @param kind how it is played
     * @return a new replay
     */
    public VectorReplay with(String name, Kind kind) {
        Map<String, Kind> more = new HashMap<>(kinds);
        more.put(name, kind);
        return new VectorReplay(more, skipped);
    }

    /**
     * The same replay, leaving out suites of some kinds. Others that are not known are failures.
     *
     * @param kinds names of kinds
     * @return a new replay
     */
    public VectorReplay skipping(Set<String> kinds) {
        Set<String> more = new HashSet<>(skipped);
        more.addAll(kinds);
        return new VectorReplay(this.kinds, more);
    }

    /**
     * Replays the vectors that come with this kit: one file per kind.
     *
     * @param open opens a store with the given clock; it is closed again after each suite
     * @return the report
     */
    public Mono<Report> replayBundled(Function<? super Clock, ? extends Store> open) {
        return Flux.fromIterable(BUNDLED)
                .concatMap(kind -> replay(kind + ".json", () -> bundled(kind), open))
                .reduce(Report.NONE, Report::plus);
    }

    private static InputStream bundled(String kind) throws IOException {
        InputStream in = VectorReplay.class.getResourceAsStream("vectors/" + kind + ".json");
        if (in == null) {
            throw new IOException("vectors/" + kind + ".json is not on the class path");
        }
        return in;
    }

    /**
     * Replays a file. The file is read on a thread of the bounded elastic scheduler.
     *
     * @param file a file of vectors
     * @param open opens a store with the given clock; it is closed again after each suite
     * @return the report, in which a file that cannot be read is a failure
     */
    public Mono<Report> replay(Path file, Function<? super Clock, ? extends Store> open) {
        return replay(String.valueOf(file.getFileName()), () -> Files.newInputStream(file), open);
    }

    @FunctionalInterface
    private interface Source {
        InputStream open() throws IOException;
    }

    private Mono<Report> replay(String name, Source source, Function<? super Clock, ? extends Store> open) {
        return mayBlock(() -> {
            JsonNode suites;
            try (InputStream in = source.open()) {
                suites = suitesOf(JSON.readTree(in));
            } catch (IOException | IllegalArgumentException e) {
                return Mono.just(unreadable(name, e));
            }
            return Flux.fromIterable(suites)
                    .concatMap(suite -> mayBlock(() -> replaySuite(name, suite, open)))
                    .reduce(Report.NONE, Report::plus);
        });
    }

    /** What came before may have ended on an event loop, where no file and no random source must be read. */
    private static Mono<Report> mayBlock(Supplier<Mono<Report>> next) {
        return Mono.defer(next).subscribeOn(Schedulers.boundedElastic());
    }

    private static Report unreadable(String name, Exception e) {
        String message = String.valueOf(e.getMessage());
        String firstLine = message.lines().findFirst().orElse(message);
        return Report.failed(1, new Difference(name, -1, "", "a file of vectors", shortName(e) + ": " + firstLine));
    }

    private static JsonNode suitesOf(JsonNode root) {
        if (!root.path("version").canConvertToInt() || root.path("version").intValue() != 1) {
            throw new IllegalArgumentException("version must be 1, was " + root.path("version"));
        }
        JsonNode suites = root.path("suites");
        if (!suites.isArray()) {
            throw new IllegalArgumentException("suites must be an array");
        }
        for (JsonNode suite : suites) {
            if (!suite.path("ops").isArray()
                    || !suite.path("strategy").path("kind").isTextual()) {
                throw new IllegalArgumentException("suite " + suite.path("name") + " must have a kind and ops");
            }
        }
        return suites;
    }

    private Mono<Report> replaySuite(String file, JsonNode suite, Function<? super Clock, ? extends Store> open) {
        String kindName = suite.path("strategy").path("kind").textValue();
        JsonNode ops = suite.path("ops");
        if (skipped.contains(kindName)) {
            return Mono.just(new Report(0, 0, ops.size(), List.of()));
        }
        String where = file + " " + suite.path("name").asText("?");
        Kind kind = kinds.get(kindName);
        if (kind == null) {
            return Mono.just(unplayable(where, ops, "a known kind", kindName));
        }
        ManualClock clock = ManualClock.at(ops.path(0).path("nowMicros").asLong());
        // Servers that are shared keep keys of earlier replays.
        String key = UUID.randomUUID() + "/" + suite.path("key").asText();
        return Mono.usingWhen(
                        Mono.fromCallable(() -> open.apply(clock)),
                        store -> play(
                                where,
                                ops,
                                clock,
                                kind.open(suite.path("strategy").path("options"), store, key)),
                        Store::close)
                .onErrorResume(e -> Mono.just(
                        unplayable(where, ops, "a suite that can be played", shortName(e) + ": " + e.getMessage())));
    }

    private static Report unplayable(String where, JsonNode ops, String expected, String got) {
        return Report.failed(Math.max(1, ops.size()), new Difference(where, -1, "", expected, got));
    }

    private static Mono<Report> play(String where, JsonNode ops, ManualClock clock, Player player) {
        return Flux.range(0, ops.size())
                .concatMap(i -> playOne(where, i, ops.path(i), clock, player))
                .reduce(Report.NONE, Report::plus);
    }

    private static Mono<Report> playOne(String where, int index, JsonNode op, ManualClock clock, Player player) {
        return Mono.defer(() -> {
                    clock.set(Fields.of(op).whole("nowMicros"));
                    return player.play(op);
                })
                .timeout(DEADLINE)
                .defaultIfEmpty(Map.of())
                .map(answer -> compare(where, index, op, answer))
                .onErrorResume(e -> Mono.just(different(where, index, op, shortName(e) + ": " + e.getMessage())));
    }

    private static Report compare(String where, int index, JsonNode op, Map<String, Object> answer) {
        JsonNode expect = op.path("expect");
        boolean same = !op.hasNonNull("expect") || expect.isObject();
        for (Map.Entry<String, JsonNode> field : expect.properties()) {
            same &= equal(field.getValue(), answer.get(field.getKey()));
        }
        return same
                ? new Report(1, 0, 0, List.of())
                : different(where, index, op, JSON.valueToTree(answer).toString());
    }

    private static boolean equal(JsonNode expected, @Nullable Object got) {
        if (got instanceof Long number) {
            return expected.isNumber() && expected.decimalValue().compareTo(BigDecimal.valueOf(number)) == 0;
        }
        return got instanceof Boolean flag && expected.isBoolean() && expected.booleanValue() == flag;
    }

    private static Report different(String where, int index, JsonNode op, String got) {
        String expected = op.has("expect") ? op.path("expect").toString() : "no error";
        Map<String, JsonNode> asked = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> field : op.properties()) {
            if (!field.getKey().equals("expect")) {
                asked.put(field.getKey(), field.getValue());
            }
        }
        return Report.failed(
                1, new Difference(where, index, JSON.valueToTree(asked).toString(), expected, got));
    }

    private static String shortName(Throwable e) {
        return e.getClass().getSimpleName();
    }
}
