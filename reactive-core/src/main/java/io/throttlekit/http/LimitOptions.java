package io.throttlekit.http;

import io.throttlekit.limiter.Limiter;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The options of one limit, while an {@link Admission.Builder} collects them. */
final class LimitOptions<C> {
    final Function<? super C, ? extends @Nullable Limiter> limiter;

    /** The limiter of all requests, where there is one. */
    final @Nullable Limiter only;

    String policy = "default";

    @Nullable
    Key<? super C> key;

    Duration keyTimeout = Duration.ofSeconds(1);
    MissingKey onMissingKey = MissingKey.error();
    MissingKey onKeyError = MissingKey.error();
    MissingKey onKeyTimeout = MissingKey.error();

    @Nullable
    KeyHash hash;

    @Nullable
    Function<? super C, ? extends Mono<Long>> cost;

    Predicate<? super C> when = request -> true;
    boolean dryRun;

    LimitOptions(Function<? super C, ? extends @Nullable Limiter> limiter) {
        this.limiter = limiter;
        this.only = null;
    }

    LimitOptions(Limiter only) {
        this.limiter = request -> only;
        this.only = only;
    }

    Gate<C> gate() {
        if (key == null) {
            throw new IllegalStateException(
                    "key is missing for limit " + policy + ": say whose limit a request counts on");
        }
        RateLimitHeaders.Policy.quoted(policy);
        return new Gate<>(this, key);
    }
}
