package io.throttlekit.redis;

import io.throttlekit.StateCodec;
import io.throttlekit.Step;
import io.throttlekit.Transform;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;

/** A transform's own {@code step} and {@code read}, applied to a state that was fetched. */
final class FunctionCall<S, R> extends Call<R> {
    private final Transform<S, R> transform;
    private @Nullable R answer;

    /** Transactions that came to nothing. */
    int tries;

    FunctionCall(Core core, Lane lane, byte[] key, CoreSubscriber<? super R> actual, Transform<S, R> transform) {
        super(core, lane, key, actual);
        this.transform = transform;
    }

    @Override
    void prepare() {
        Value.checkKind(transform.codec().kind());
    }

    /**
     * Steps on from a value, and keeps the answer until it is known whether the step counts.
     *
     * @return the value that follows; {@code before} itself when nothing changes
     * @throws RuntimeException what the transform threw, or that the value is of another kind
     */
    Value apply(Value before, long nowMicros) {
        StateCodec<S> codec = transform.codec();
        S state = before.decode(codec, nowMicros);
        Step<S> step = transform.step(state, nowMicros);
        answer = transform.read(step, nowMicros);
        S next = step.state();
        if (next == state) {
            return before;
        }
        return next == null ? Value.NONE : Value.of(codec, next);
    }

    void answer() {
        signal(answer);
    }
}
