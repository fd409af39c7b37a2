package io.throttlekit.redis.bench;

import io.throttlekit.Decision;
import io.throttlekit.limiter.Limiter;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/** Checks through a limiter, as a user has them. */
final class StoreLoop extends Loop {
    private final Limiter limiter;
    private final String[] keys;

    StoreLoop(Limiter limiter, String[] keys) {
        this.limiter = limiter;
        this.keys = keys;
    }

    /** The first answer brings the loop to the store's event loop. */
    @Override
    void onLoop(Runnable task) {
        limiter.check("first").subscribe(decision -> task.run(), this::failed);
    }

    @Override
    void send(int index, long startedNanos) {
        limiter.check(keys[index % keys.length]).subscribe(new CoreSubscriber<>() {
            @Override
            public void onSubscribe(Subscription subscription) {
                subscription.request(Long.MAX_VALUE);
            }

            @Override
            public void onNext(Decision decision) {
                if (!decision.allowed()) {
                    failed(new IllegalStateException("denied"));
                }
            }

            @Override
            public void onError(Throwable error) {
                failed(error);
            }

            @Override
            public void onComplete() {
                answered(startedNanos);
            }
        });
    }
}
