package io.throttlekit.limiter;

import io.throttlekit.Decision;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;

/** A check that takes local credits, or waits for a lease of them. */
final class LeaseMono extends Mono<Decision> {
    // An operator of its own: served from credits, it allocates nothing but a subscription and the decision.

    final LeaseTier<?> tier;
    final String key;
    final long min;
    final long max;

    private LeaseMono(LeaseTier<?> tier, String key, long min, long max) {
        this.tier = tier;
        this.key = key;
        this.min = min;
        this.max = max;
    }

    static Mono<Decision> of(LeaseTier<?> tier, String key, long min, long max) {
        return onAssembly(new LeaseMono(tier, key, min, max));
    }

    @Override
    public void subscribe(CoreSubscriber<? super Decision> actual) {
        actual.onSubscribe(new LeaseWaiter(this, actual));
    }
}
