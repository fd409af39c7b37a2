package io.throttlekit.limiter;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** The calls to a store that no subscriber of a limiter's owns: they are known, so that closing can end them. */
final class Calls {
    private final Set<Disposable> live = ConcurrentHashMap.newKeySet();
    private final Sinks.Empty<Void> none = Sinks.empty();
    private volatile boolean closing;

    void began(Disposable call) {
        live.add(call);
    }

    void ended(Disposable call) {
        live.remove(call);
        announce();
    }

    int size() {
        return live.size();
    }

    /** Completes once, after this, there are no calls. */
    Mono<Void> over() {
        closing = true;
        announce();
        return none.asMono();
    }

    private void announce() {
        if (closing && live.isEmpty()) {
            // Who comes second finds it emitted, which is as good.
            none.tryEmitEmpty();
        }
    }

    void cancelAll() {
        live.forEach(Disposable::dispose);
    }
}
