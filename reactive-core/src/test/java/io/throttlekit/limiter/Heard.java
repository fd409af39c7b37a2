package io.throttlekit.limiter;

import io.throttlekit.Decision;
import java.util.ArrayList;
import java.util.List;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;

/** A subscriber that keeps what it hears. */
final class Heard extends BaseSubscriber<Decision> {
    final List<Object> signals = new ArrayList<>();
    private final Runnable then;

    Heard(Runnable then) {
        this.then = then;
    }

    static Heard of(Mono<Decision> check) {
        Heard heard = new Heard(() -> {});
        check.subscribe(heard);
        return heard;
    }

    static List<Heard> times(int times, Mono<Decision> check) {
        List<Heard> all = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            all.add(of(check));
        }
        return all;
    }

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
        requestUnbounded();
    }

    @Override
    protected void hookOnNext(Decision decision) {
        signals.add(decision);
        then.run();
    }

    @Override
    protected void hookOnError(Throwable error) {
        signals.add(error);
    }

    boolean allowed() {
        return signals.size() == 1 && signals.get(0) instanceof Decision decision && decision.allowed();
    }

    /** The decision, the only thing that was heard. */
    Decision decision() {
        return (Decision) only();
    }

    /** The only thing that was heard. */
    Object only() {
        if (signals.size() != 1) {
            throw new AssertionError("expected one signal, were " + signals);
        }
        return signals.get(0);
    }
}
