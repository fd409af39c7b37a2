package io.throttlekit.vertx;

import io.vertx.core.Context;
import io.vertx.core.Promise;
import reactor.core.publisher.BaseSubscriber;

/** Completes a promise when a shaper says so: within the call, or else in a task of the caller's context. */
final class Turn extends BaseSubscriber<Void> {
    private final Context context;
    private final Promise<Void> promise;
    private final Thread caller = Thread.currentThread();
    private boolean inTheCall = true;

    Turn(Context context, Promise<Void> promise) {
        this.context = context;
        this.promise = promise;
    }

    void leaveTheCall() {
        inTheCall = false;
    }

    @Override
    protected void hookOnComplete() {
        answer(promise::complete);
    }

    @Override
    protected void hookOnError(Throwable error) {
        answer(() -> promise.fail(error));
    }

    private void answer(Runnable action) {
        // The thread is compared first: on another one, inTheCall may not be read.
        if (Thread.currentThread() == caller && inTheCall) {
            action.run();
        } else {
            context.runOnContext(ignored -> action.run());
        }
    }
}
