package io.throttlekit.strategy;

import io.throttlekit.Dialect;
import io.throttlekit.Program;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A program whose text stands beside its strategy.
 *
 * @param name the file's name without its extension
 * @param operation its first argument
 * @param numbers its further arguments, for a time
 * @param reader builds the answer of a reply, or null to be called again
 */
record Script<R>(
        String name, String operation, LongFunction<List<Long>> numbers, Function<List<Long>, @Nullable R> reader)
        implements Program<R> {

    /** A program whose arguments do not depend on the time. */
    static <R> Script<R> of(
            String name, String operation, List<Long> numbers, Function<List<Long>, @Nullable R> reader) {
        return new Script<>(name, operation, time -> numbers, reader);
    }

    @Override
    public @Nullable String text(Dialect dialect) {
        try (InputStream in = Script.class.getResourceAsStream(name + "." + dialect.extension())) {
            return in == null ? null : new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
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
