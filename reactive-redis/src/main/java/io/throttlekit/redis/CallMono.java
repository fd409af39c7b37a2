package io.throttlekit.redis;

import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;

/**
 * A cold {@code Mono} whose every subscription is a {@link Call}.
 *
 * <p>{@code Mono.create} would do, at the price of a sink and its queue of states beside the call's own: about a
 * tenth of what a pipelined check costs.
 */
final class CallMono<R> extends Mono<R> {
    /** Makes the call of one subscription. */
    @FunctionalInterface
    interface Maker<R> {
        Call<R> call(CoreSubscriber<? super R> actual);
    }

    private final Maker<R> maker;

    private CallMono(Maker<R> maker) {
        this.maker = maker;
    }

    static <R> Mono<R> of(Maker<R> maker) {
        return onAssembly(new CallMono<>(maker));
    }

    @Override
    public void subscribe(CoreSubscriber<? super R> actual) {
        actual.onSubscribe(maker.call(actual));
    }
}
