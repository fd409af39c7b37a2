package io.throttlekit.redis.bench;

import java.util.concurrent.CompletionStage;
import java.util.function.IntFunction;

/** Requests of a peer, which answers with a stage on a thread of its own. */
final class FutureLoop extends Loop {
    private final IntFunction<CompletionStage<Boolean>> requests;

    /** Takes what sends the n-th request and tells whether it was allowed. */
    FutureLoop(IntFunction<CompletionStage<Boolean>> requests) {
        this.requests = requests;
    }

    @Override
    void onLoop(Runnable task) {
        task.run();
    }

    @Override
    void send(int index, long startedNanos) {
        requests.apply(index).whenComplete((allowed, error) -> {
            if (error != null) {
                failed(error);
            } else if (!allowed) {
                failed(new IllegalStateException("denied"));
            } else {
                answered(startedNanos);
            }
        });
    }
}
