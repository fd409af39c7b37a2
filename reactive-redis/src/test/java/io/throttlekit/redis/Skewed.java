package io.throttlekit.redis;

import io.throttlekit.Dialect;
import io.throttlekit.Program;
import io.throttlekit.StateCodec;
import io.throttlekit.Step;
import io.throttlekit.Transform;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A transform whose client's clock is years off, the first times that its arguments are computed. */
record Skewed<S, R>(Transform<S, R> transform, int times) implements Transform<S, R> {
    private static final long YEARS_MICROS = 5L * 365 * 86_400 * 1_000_000;

    @Override
    public StateCodec<S> codec() {
        return transform.codec();
    }

    @Override
    public Step<S> step(@Nullable S before, long nowMicros) {
        return transform.step(before, nowMicros);
    }

    @Override
    public R read(Step<S> step, long nowMicros) {
        return transform.read(step, nowMicros);
    }

    @Override
    public Program<R> program() {
        Program<R> program = Objects.requireNonNull(transform.program());
        AtomicInteger left = new AtomicInteger(times);
        return new Program<>() {
            @Override
            public String name() {
                return program.name();
            }

            @Override
            public @Nullable String text(Dialect dialect) {
                return program.text(dialect);
            }

            @Override
            public String operation() {
                return program.operation();
            }

            @Override
            public List<Long> args(long clientMicros) {
                return program.args(left.getAndDecrement() > 0 ? clientMicros - YEARS_MICROS : clientMicros);
            }

            @Override
            public @Nullable R read(List<Long> reply) {
                return program.read(reply);
            }
        };
    }
}
