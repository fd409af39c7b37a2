package io.throttlekit.store;

import io.throttlekit.Transform;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/**
 * A transform applied on request, on the requester's thread.
 *
 * <p>{@code Mono.fromCallable} would do; this is leaner by an allocation and a lambda, and a check in memory
 * is small enough for that to show.
 */
final class ApplyMono<S, R> extends Mono<R> implements Callable<R> {
    private final MemoryStore store;
    private final String key;
    private final Transform<S, R> transform;

    private ApplyMono(MemoryStore store, String key, Transform<S, R> transform) {
        this.store = store;
        this.key = key;
        this.transform = transform;
    }

    static <S, R> Mono<R> of(MemoryStore store, String key, Transform<S, R> transform) {
        return onAssembly(new ApplyMono<>(store, key, transform));
    }

    @Override
    public R call() {
        return store.applySync(key, transform);
    }

    @Override
    public void subscribe(CoreSubscriber<? super R> actual) {
        actual.onSubscribe(new Once<>(this, actual));
    }

    private static final class Once<R> extends AtomicBoolean implements Subscription {
        private static final long serialVersionUID = 1L;

        private final transient ApplyMono<?, R> source;
        private final transient CoreSubscriber<? super R> actual;
        private volatile boolean cancelled;

        Once(ApplyMono<?, R> source, CoreSubscriber<? super R> actual) {
            this.source = source;
            this.actual = actual;
        }

        @Override
        public void request(long n) {
            if (!Operators.validate(n) || cancelled || !compareAndSet(false, true)) {
                return;
            }
            R answer;
            try {
                answer = source.call();
            } catch (Throwable e) {
                actual.onError(Operators.onOperatorError(e, actual.currentContext()));
                return;
            }
            actual.onNext(answer);
            if (!cancelled) {
                actual.onComplete();
            }
        }

        @Override
        public void cancel() {
            cancelled = true;
        }
    }
}
