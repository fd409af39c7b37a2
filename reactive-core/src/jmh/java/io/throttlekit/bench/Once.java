package io.throttlekit.bench;

import io.throttlekit.Decision;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/** The cheapest subscriber there can be. */
final class Once implements CoreSubscriber<Decision> {
    private @Nullable Decision decision;

    Decision decision() {
        if (decision == null) {
            throw new IllegalStateException("no decision");
        }
        return decision;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(Decision value) {
        decision = value;
    }

    @Override
    public void onError(Throwable error) {
        throw new IllegalStateException(error);
    }

    @Override
    public void onComplete() {}
}
