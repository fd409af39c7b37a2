package io.throttlekit.vertx;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;

/** The subscriber behind a future: completes it at once within the caller's call, else on the caller's context. */
final class Answer<T> extends BaseSubscriber<T> {
    private final Context context;
    private final Promise<T> promise = Promise.promise();
    private final Thread caller = Thread.currentThread();

    // Touched on the caller alone, within its call.
    private boolean inTheCall = true;

    private @Nullable T value;

    private Answer(Vertx vertx) {
        this.context = vertx.getOrCreateContext();
    }

    /** Subscribes, on the caller's thread. */
    static <T> Future<T> to(Vertx vertx, Mono<T> question) {
        Answer<T> answer = new Answer<>(vertx);
        question.subscribe(answer);
        answer.inTheCall = false;
        return answer.promise.future();
    }

    @Override
    protected void hookOnNext(T next) {
        value = next;
    }

    @Override
    protected void hookOnComplete() {
        T answer = value;
        settle(() -> promise.tryComplete(answer));
    }

    @Override
    protected void hookOnError(Throwable error) {
        settle(() -> promise.tryFail(error));
    }

    private void settle(Runnable action) {
        // The thread is compared first: on another one, inTheCall may not be read.
        if (Thread.currentThread() == caller && inTheCall) {
            action.run();
        } else {
            context.runOnContext(ignored -> action.run());
        }
    }
}
