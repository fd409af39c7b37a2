package io.throttlekit.http;

import io.throttlekit.Decision;
import io.throttlekit.FailMode;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.limiter.Limiter;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Decides whether an HTTP request may go on, and what its response says about it.
 *
 * <pre>{@code
 * Admission<RoutingContext> admission = Admission.<RoutingContext>builder(limiter)
 *         .key(request -> request.request().remoteAddress().hostAddress())
 *         .failMode(FailMode.CLOSED)
 *         .build();
 * }</pre>
 *
 * <p>Immutable, and safe for use from any thread.
 *
 * @param <C> what the server knows a request by
 */
public final class Admission<C> {
    private final Limiter limiter;
    private final Function<? super C, ? extends Mono<String>> key;
    private final Duration keyTimeout;
    private final String policy;
    private final RateLimitHeaders headers;
    private final FailMode failMode;
    private final Outages outages;
    private final Outcome undecided;

    private Admission(Builder<C> options, Function<? super C, ? extends Mono<String>> key, FailMode failMode) {
        this.limiter = options.limiter;
        this.key = key;
        this.keyTimeout = options.keyTimeout;
        this.policy = options.policy;
        this.headers = RateLimitHeaders.of(RateLimitHeaders.Format.DRAFT_11, policy, limiter.strategy());
        this.failMode = failMode;
        this.outages = new Outages(policy, failMode);
        this.undecided = undecided(options.outageRetryAfter);
    }

    /**
     * The options of an admission.
     *
     * @param limiter what decides
     * @param <C> what the server knows a request by
     * @return a new builder, which needs a key and a fail mode
     */
    public static <C> Builder<C> builder(Limiter limiter) {
        return new Builder<>(limiter);
    }

    /**
     * Checks a request, at one unit.
     *
     * <p>Nothing happens before the subscription, and each subscription is charged. Over a store in this
     * process the outcome is there on the subscriber's thread; otherwise it comes on a thread of the store's
     * or of the key function's, which the adapter has to leave. Cancelling cancels the check.
     *
     * <p>Only {@link StoreUnavailableException} from the store is turned into an outcome, by the fail mode.
     * What else goes wrong is an error here: it is a fault in the program, and neither mode would mend it.
     *
     * @param request the request
     * @return exactly one outcome, or an error
     */
    public Mono<Outcome> admit(C request) {
        return Mono.defer(() -> keyOf(request).flatMap(this::check));
    }

    private Mono<String> keyOf(C request) {
        Mono<String> found = key.apply(request);
        // What is known at once needs no timer.
        return (found instanceof Callable ? found : found.timeout(keyTimeout, Mono.error(this::lateKey)))
                .filter(text -> !text.isEmpty())
                .switchIfEmpty(Mono.error(() -> new IllegalStateException("the key function gave no key")));
    }

    private IllegalStateException lateKey() {
        return new IllegalStateException("the key function gave no key within " + keyTimeout);
    }

    private Mono<Outcome> check(String key) {
        return limiter.check(key)
                .map(this::decided)
                .onErrorResume(StoreUnavailableException.class, outage -> {
                    outages.add(outage);
                    return Mono.just(undecided);
                })
                .single();
    }

    private Outcome decided(Decision decision) {
        Map<String, String> fields = headers.of(decision);
        if (decision.allowed()) {
            return new Outcome.Pass(fields);
        }
        OptionalLong retryAfter = RateLimitHeaders.retryAfterSeconds(decision);
        addEntity(fields);
        return new Outcome.Denied(fields, Problem.quotaExceeded(policy, retryAfter));
    }

    private Outcome undecided(Duration retryAfter) {
        if (failMode == FailMode.OPEN) {
            return new Outcome.Pass(Map.of());
        }
        return unavailable("The limit cannot be checked at the moment.", retryAfter);
    }

    /** A 503; the reason is a sentence that needs no escaping in JSON. */
    static Outcome.Unavailable unavailable(String reason, Duration retryAfter) {
        long seconds = RateLimitHeaders.seconds(retryAfter);
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put(RateLimitHeaders.RETRY_AFTER, Long.toString(seconds));
        addEntity(fields);
        return new Outcome.Unavailable(fields, Problem.temporarilyReduced(reason, seconds));
    }

    private static void addEntity(Map<String, String> fields) {
        fields.put("Content-Type", Problem.MEDIA_TYPE);
        fields.put("Cache-Control", "no-store");
    }

    /**
     * The options of an {@link Admission}. A key function and the fail mode have no default.
     *
     * @param <C> what the server knows a request by
     */
    public static final class Builder<C> {
        private final Limiter limiter;
        private @Nullable Function<? super C, ? extends Mono<String>> key;
        private Duration keyTimeout = Duration.ofSeconds(1);
        private String policy = "default";
        private @Nullable FailMode failMode;
        private Duration outageRetryAfter = Duration.ofSeconds(1);

        private Builder(Limiter limiter) {
            this.limiter = Objects.requireNonNull(limiter, "limiter");
        }

        /**
         * Whose limit a request counts on: a client's address, an API key, a tenant. It runs on the request's
         * thread and must not block.
         *
         * <p>A request without a key, null or empty, is an error: letting it pass would be no limit at all for
         * whoever leaves the key out. Give such requests a key of their own to limit them together.
         *
         * @param key the key function
         * @return this
         */
        public Builder<C> key(Function<? super C, ? extends @Nullable String> key) {
            Objects.requireNonNull(key, "key");
            return keyMono(request -> Mono.justOrEmpty(key.apply(request)));
        }

        /**
         * As {@link #key}, for a key that takes asking, such as the principal of a session. A {@code Mono} that
         * is empty is an error, and so is one that takes longer than the {@link #keyTimeout}.
         *
         * @param key the key function
         * @return this
         */
        public Builder<C> keyMono(Function<? super C, ? extends Mono<String>> key) {
            this.key = Objects.requireNonNull(key, "key");
            return this;
        }

        /**
         * How long a {@link #keyMono} may take; 1 s by default.
         *
         * @param keyTimeout at least a millisecond
         * @return this
         * @throws IllegalArgumentException if it is shorter
         */
        public Builder<C> keyTimeout(Duration keyTimeout) {
            if (keyTimeout.compareTo(Duration.ofMillis(1)) < 0) {
                throw new IllegalArgumentException("keyTimeout must be at least 1 ms, was " + keyTimeout);
            }
            this.keyTimeout = keyTimeout;
            return this;
        }

        /**
         * The limit's name in headers, bodies and logs; {@code default} by default.
         *
         * @param policy printable ASCII, at least one character
         * @return this
         */
        public Builder<C> policy(String policy) {
            this.policy = Objects.requireNonNull(policy, "policy");
            return this;
        }

        /**
         * What becomes of a request when the store cannot decide. There is no default, because neither is
         * right for everyone: open lets an outage of the store through to what the limit protects, closed turns
         * it into an outage of this server.
         *
         * @param failMode the mode
         * @return this
         */
        public Builder<C> failMode(FailMode failMode) {
            this.failMode = Objects.requireNonNull(failMode, "failMode");
            return this;
        }

        /**
         * The {@code Retry-After} of a request that is refused because the store cannot decide; 1 s by default.
         *
         * @param outageRetryAfter more than zero; rounded up to whole seconds
         * @return this
         * @throws IllegalArgumentException if it is zero or negative
         */
        public Builder<C> outageRetryAfter(Duration outageRetryAfter) {
            if (outageRetryAfter.isZero() || outageRetryAfter.isNegative()) {
                throw new IllegalArgumentException("outageRetryAfter must be more than zero, was " + outageRetryAfter);
            }
            this.outageRetryAfter = outageRetryAfter;
            return this;
        }

        /**
         * The admission.
         *
         * @return a new admission
         * @throws IllegalStateException if the key function or the fail mode is missing
         * @throws IllegalArgumentException if the policy's name cannot be written in a header
         */
        public Admission<C> build() {
            if (key == null) {
                throw new IllegalStateException("key is missing: say whose limit a request counts on");
            }
            if (failMode == null) {
                throw new IllegalStateException("failMode is missing: choose OPEN or CLOSED for when the store"
                        + " cannot decide; there is no default");
            }
            return new Admission<>(this, key, failMode);
        }
    }
}
