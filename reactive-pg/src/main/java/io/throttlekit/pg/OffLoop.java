package io.throttlekit.pg;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import reactor.core.scheduler.Schedulers;

/**
 * Reads files on a thread that may wait. Not by Vert.x's executeBlocking: handing it work takes the lock of a queue, for
 * which an event loop may have to wait.
 */
final class OffLoop {
    private OffLoop() {}

    /** Completes on the caller's event loop, where there is one. */
    static <T> Future<T> call(Callable<T> reading) {
        Context caller = Vertx.currentContext();
        Promise<T> promise = Promise.promise();
        try {
            Schedulers.boundedElastic().schedule(() -> {
                Future<T> read = read(reading);
                if (caller == null) {
                    read.onComplete(promise);
                } else {
                    caller.runOnContext(back -> read.onComplete(promise));
                }
            });
        } catch (RejectedExecutionException e) {
            promise.fail(e);
        }
        return promise.future();
    }

    private static <T> Future<T> read(Callable<T> reading) {
        try {
            return Future.succeededFuture(reading.call());
        } catch (Exception e) {
            return Future.failedFuture(e);
        }
    }
}
