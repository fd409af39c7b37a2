package io.throttlekit.http;

import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A {@link Key} that there is nobody to wait for. Its function gives null or an empty text when there is none. */
record KnownKey<C>(BiFunction<? super C, RequestHead, ? extends @Nullable String> function) implements Key<C> {
    @Nullable
    String now(C request, RequestHead head) {
        return function.apply(request, head);
    }

    @Override
    public Mono<String> of(C request, RequestHead head) {
        return Mono.justOrEmpty(now(request, head));
    }
}
