package io.throttlekit.strategy;

import io.throttlekit.Dialect;
import io.throttlekit.Program;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A program whose text stands beside its strategy. Texts are read once, when a strategy is built that needs
 * them ({@link #load}): later they may be asked for on a thread that must not block.
 *
 * @param name the file's name without its extension
 * @param operation its first argument
 * @param numbers its further arguments, for a time
 * @param usual the same in three numbers, or nothing
 * @param reader builds the answer of a reply, or null to be called again
 */
record Script<R>(
        String name,
        String operation,
        LongFunction<List<Long>> numbers,
        List<Long> usual,
        Function<List<Long>, @Nullable R> reader)
        implements Program<R> {
    /** Texts by file name; empty where there is no such file. */
    private static final Map<String, String> TEXTS = new ConcurrentHashMap<>();

    /** Reads a program's texts, so that {@link #text} need not. */
    static void load(String name) {
        for (Dialect dialect : Dialect.values()) {
            read(name, dialect);
        }
    }

    private static String read(String name, Dialect dialect) {
        return TEXTS.computeIfAbsent(name + "." + dialect.extension(), file -> {
            try (InputStream in = Script.class.getResourceAsStream(file)) {
                return in == null ? "" : new String(in.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    /** A program whose arguments do not depend on the time. */
    static <R> Script<R> of(
            String name, String operation, List<Long> numbers, Function<List<Long>, @Nullable R> reader) {
        return of(name, operation, numbers, List.of(), reader);
    }

    /** A program that may be a usual call. */
    static <R> Script<R> of(
            String name,
            String operation,
            List<Long> numbers,
            List<Long> usual,
            Function<List<Long>, @Nullable R> reader) {
        return new Script<>(name, operation, time -> numbers, usual, reader);
    }

    @Override
    public @Nullable String text(Dialect dialect) {
        String text = read(name, dialect);
        return text.isEmpty() ? null : text;
    }

    @Override
    public List<Long> args(long clientMicros) {
        return numbers.apply(clientMicros);
    }

    @Override
    public @Nullable R read(List<Long> reply) {
        return reader.apply(reply);
    }
}
