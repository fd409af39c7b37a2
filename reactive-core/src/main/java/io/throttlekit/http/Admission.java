package io.throttlekit.http;

import io.throttlekit.FailMode;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.limiter.Limiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Decides whether an HTTP request may go on, and what its response says about it.
 *
 * <pre>{@code
 * Admission<RoutingContext> admission = Admission.<RoutingContext>builder(perMinute)
 *         .policy("per-client")
 *         .key(Key.address(ClientAddress.ofPeer()))
 *         .and(perDay)
 *         .policy("per-tenant")
 *         .key(Key.header("X-Tenant"))
 *         .failMode(FailMode.CLOSED)
 *         .build();
 * }</pre>
 *
 * <p>Several limits are checked one after the other. All have to allow: at the first denial the later ones are
 * not asked, and what the earlier ones took is given back before the answer, as far as their strategies can.
 * Limits over one store need a prefix each, or the same key would be one count for both.
 *
 * <p>Immutable, and safe for use from any thread.
 *
 * @param <C> what the server knows a request by
 */
public final class Admission<C> {
    private static final RequestHead UNKNOWN = RequestHead.of("GET");
    private static final Outcome BARE = new Outcome.Pass(Map.of());

    private final List<Gate<C>> gates;

    /** The only gate, if it always answers at once. */
    private final @Nullable Gate<C> immediate;

    private final Predicate<? super C> skip;
    private final boolean limitPreflight;
    private final RateLimitHeaders headers;
    private final RefusalBody body;
    private final FailMode failMode;
    private final long outageRetryAfterSeconds;
    private final Recorder recorder;
    private final Failures refundFailures = new Failures("a refund failed");

    private Admission(Builder<C> options, FailMode failMode) {
        this.gates = options.limits.stream().map(LimitOptions::gate).toList();
        this.immediate = gates.size() == 1 && gates.get(0).isImmediate() ? gates.get(0) : null;
        this.skip = options.skip;
        this.limitPreflight = options.limitPreflight;
        this.headers = options.headers;
        this.body = options.body;
        this.failMode = failMode;
        this.outageRetryAfterSeconds = RateLimitHeaders.seconds(options.outageRetryAfter);
        this.recorder = new Recorder(options.listeners, failMode, new Failures(names() + onOutage(failMode)));
    }

    private String names() {
        return "limit " + String.join(", ", gates.stream().map(Gate::name).toList());
    }

    private static String onOutage(FailMode failMode) {
        return failMode == FailMode.OPEN
                ? ": the store could not decide and requests passed unlimited"
                : ": the store could not decide and requests were refused";
    }

    /**
     * The options of an admission.
     *
     * @param limiter what decides
     * @param <C> what the server knows a request by
     * @return a new builder, which needs a key and a fail mode
     */
    public static <C> Builder<C> builder(Limiter limiter) {
        return new Builder<>(new LimitOptions<>(Objects.requireNonNull(limiter, "limiter")));
    }

    /**
     * The options of an admission whose first limit depends on the request: a limiter for each route or tenant.
     *
     * @param limiter what decides a request; null for one that is not to be limited. It must not make new limiters
     * @param <C> what the server knows a request by
     * @return a new builder, which needs a key and a fail mode
     */
    public static <C> Builder<C> choosing(Function<? super C, ? extends @Nullable Limiter> limiter) {
        return new Builder<>(new LimitOptions<>(Objects.requireNonNull(limiter, "limiter")));
    }

    /**
     * Checks a request of which nothing more is known: its body is negotiated as for a client without
     * preferences, and it has neither address nor header.
     *
     * @param request the request
     * @return exactly one outcome, or an error
     * @see #admit(Object, RequestHead)
     */
    public Mono<Outcome> admit(C request) {
        return admit(request, UNKNOWN);
    }

    /**
     * Checks a request.
     *
     * <p>Nothing happens before the subscription, and each subscription is charged. Over a store in this
     * process the outcome is there on the subscriber's thread; otherwise it comes on a thread of the store's
     * or of the key function's, which the adapter has to leave. Cancelling cancels the check; what earlier
     * limits of the same request took by then stays taken.
     *
     * <p>Only {@link StoreUnavailableException} from the store is turned into an outcome, by the fail mode.
     * What else goes wrong is an error here: it is a fault in the program, and neither mode would mend it.
     *
     * @param request the request
     * @param head what every server knows of it
     * @return exactly one outcome, or an error
     * @implNote For one limit over a store in this process, with a key that takes no asking, it is a {@code Callable},
     *     with which operators fuse.
     */
    public Mono<Outcome> admit(C request, RequestHead head) {
        Gate<C> only = immediate;
        if (only != null) {
            return Mono.fromCallable(() -> admitNow(only, request, head));
        }
        return Mono.defer(
                () -> isFree(request, head) ? Mono.just(BARE) : walk(0, new ArrayList<>(gates.size()), request, head));
    }

    private Outcome admitNow(Gate<C> gate, C request, RequestHead head) {
        Verdict verdict = isFree(request, head) ? null : gate.checkNow(request, head, recorder);
        if (verdict == null) {
            return BARE;
        }
        return refuses(verdict) ? refusal(verdict, List.of(), head) : new Outcome.Pass(headers.fields(verdict.told()));
    }

    private boolean isFree(C request, RequestHead head) {
        return (!limitPreflight && isPreflight(head)) || skip.test(request);
    }

    /** As the Fetch standard defines it. */
    private static boolean isPreflight(RequestHead head) {
        return head.method().equals("OPTIONS")
                && head.field("Origin") != null
                && head.field("Access-Control-Request-Method") != null;
    }

    private Mono<Outcome> walk(int at, List<Verdict> passed, C request, RequestHead head) {
        if (at == gates.size()) {
            return Mono.just(pass(passed));
        }
        Gate<C> gate = gates.get(at);
        Mono<Verdict> checked = check(gate, request, head);
        if (!(checked instanceof Callable<?> known)) {
            return checked.onErrorResume(error -> giveBack(passed).then(Mono.error(error)))
                    .flatMap(verdict -> next(verdict, at, passed, request, head))
                    .switchIfEmpty(Mono.defer(() -> walk(at + 1, passed, request, head)));
        }
        Object verdict;
        try {
            verdict = known.call();
        } catch (Exception e) {
            return giveBack(passed).then(Mono.error(e));
        }
        return verdict == null
                ? walk(at + 1, passed, request, head)
                : next((Verdict) verdict, at, passed, request, head);
    }

    private Mono<Verdict> check(Gate<C> gate, C request, RequestHead head) {
        try {
            return gate.check(request, head, recorder);
        } catch (RuntimeException e) {
            return Mono.error(e);
        }
    }

    private Mono<Outcome> next(Verdict verdict, int at, List<Verdict> passed, C request, RequestHead head) {
        if (refuses(verdict)) {
            Outcome refusal = refusal(verdict, passed, head);
            return passed.isEmpty() ? Mono.just(refusal) : giveBack(passed).thenReturn(refusal);
        }
        passed.add(verdict);
        return walk(at + 1, passed, request, head);
    }

    private boolean refuses(Verdict verdict) {
        if (verdict.gate().dryRun()) {
            return false;
        }
        RateLimitHeaders.Report report = verdict.report();
        return report == null ? failMode == FailMode.CLOSED : !report.decision().allowed();
    }

    private Mono<Void> giveBack(List<Verdict> passed) {
        return Flux.fromIterable(passed)
                .flatMap(verdict -> verdict.giveBack(refundFailures))
                .then();
    }

    private Outcome pass(List<Verdict> passed) {
        return passed.isEmpty() ? BARE : new Outcome.Pass(headers.fields(reports(passed)));
    }

    private static List<RateLimitHeaders.Report> reports(List<Verdict> verdicts) {
        List<RateLimitHeaders.Report> reports = new ArrayList<>(verdicts.size());
        for (Verdict verdict : verdicts) {
            reports.addAll(verdict.told());
        }
        return reports;
    }

    private Outcome refusal(Verdict verdict, List<Verdict> passed, RequestHead head) {
        RateLimitHeaders.Report report = verdict.report();
        if (report == null) {
            return unavailable(head);
        }
        List<Verdict> all = new ArrayList<>(passed.size() + 1);
        passed.forEach(earlier -> all.add(earlier.givenBack()));
        all.add(verdict);
        Fields fields = headers.fields(reports(all));
        OptionalLong retryAfter = RateLimitHeaders.retryAfterSeconds(report.decision());
        String text = entity(
                fields, new RefusalBody.Refusal(429, List.of(report.policy().name()), retryAfter), head);
        return new Outcome.Denied(fields, text);
    }

    private Outcome unavailable(RequestHead head) {
        Fields fields = new Fields(3);
        fields.add(RateLimitHeaders.RETRY_AFTER, Long.toString(outageRetryAfterSeconds));
        String text =
                entity(fields, new RefusalBody.Refusal(503, List.of(), OptionalLong.of(outageRetryAfterSeconds)), head);
        return new Outcome.Unavailable(fields, text);
    }

    private String entity(Fields fields, RefusalBody.Refusal refusal, RequestHead head) {
        RefusalBody.Entity entity = body.write(refusal, head);
        fields.add("Content-Type", entity.mediaType());
        fields.add("Cache-Control", "no-store");
        return entity.text();
    }

    /**
     * The options of an {@link Admission}. A key for each limit and the fail mode have no default.
     *
     * <p>{@link #and} begins a further limit. {@code policy}, {@code key}, {@code cost}, {@code when},
     * {@code dryRun} and what else is said of a limit is said of the one begun last.
     *
     * @param <C> what the server knows a request by
     */
    public static final class Builder<C> {
        private final List<LimitOptions<C>> limits = new ArrayList<>();
        private final List<DecisionListener> listeners = new ArrayList<>();
        private LimitOptions<C> limit;
        private Predicate<? super C> skip = request -> false;
        private boolean limitPreflight;
        private RateLimitHeaders headers = RateLimitHeaders.of(RateLimitHeaders.Family.STRUCTURED_DRAFT_11);
        private RefusalBody body = RefusalBody.negotiated();
        private @Nullable FailMode failMode;
        private Duration outageRetryAfter = Duration.ofSeconds(1);

        private Builder(LimitOptions<C> first) {
            limit = first;
            limits.add(first);
        }

        /**
         * A further limit.
         *
         * @param limiter what decides
         * @return this
         */
        public Builder<C> and(Limiter limiter) {
            return and(new LimitOptions<>(Objects.requireNonNull(limiter, "limiter")));
        }

        /**
         * A further limit that depends on the request.
         *
         * @param limiter what decides a request; null for one that this limit is not for
         * @return this
         */
        public Builder<C> andChoosing(Function<? super C, ? extends @Nullable Limiter> limiter) {
            return and(new LimitOptions<>(Objects.requireNonNull(limiter, "limiter")));
        }

        private Builder<C> and(LimitOptions<C> next) {
            limit = next;
            limits.add(next);
            return this;
        }

        /**
         * Whose limit a request counts on.
         *
         * @param key the key
         * @return this
         */
        public Builder<C> key(Key<? super C> key) {
            limit.key = Objects.requireNonNull(key, "key");
            return this;
        }

        /**
         * Whose limit a request counts on, from what the server knows of it. It runs on the request's thread and
         * must not block.
         *
         * @param key the key function; null and empty mean that there is no key
         * @return this
         */
        public Builder<C> key(Function<? super C, ? extends @Nullable String> key) {
            return key(Key.<C>of(key));
        }

        /**
         * As {@link #key}, for a key that takes asking, such as the principal of a session.
         *
         * @param key the key function
         * @return this
         */
        public Builder<C> keyMono(Function<? super C, ? extends Mono<String>> key) {
            Objects.requireNonNull(key, "key");
            return key((Key<C>) (request, head) -> key.apply(request));
        }

        /**
         * How long a key or a cost may take that is not known at once; 1 s by default.
         *
         * @param keyTimeout at least a millisecond
         * @return this
         * @throws IllegalArgumentException if it is shorter
         */
        public Builder<C> keyTimeout(Duration keyTimeout) {
            if (keyTimeout.compareTo(Duration.ofMillis(1)) < 0) {
                throw new IllegalArgumentException("keyTimeout must be at least 1 ms, was " + keyTimeout);
            }
            limit.keyTimeout = keyTimeout;
            return this;
        }

        /**
         * What becomes of a request without a key; an error by default: letting it pass would be no limit at all
         * for whoever leaves the key out.
         *
         * @param policy the policy
         * @return this
         */
        public Builder<C> onMissingKey(MissingKey policy) {
            limit.onMissingKey = Objects.requireNonNull(policy, "policy");
            return this;
        }

        /**
         * What becomes of a request whose key function fails; an error by default, the function's own.
         *
         * @param policy the policy
         * @return this
         */
        public Builder<C> onKeyError(MissingKey policy) {
            limit.onKeyError = Objects.requireNonNull(policy, "policy");
            return this;
        }

        /**
         * What becomes of a request whose key does not come within the {@link #keyTimeout}; an error by default.
         *
         * @param policy the policy
         * @return this
         */
        public Builder<C> onKeyTimeout(MissingKey policy) {
            limit.onKeyTimeout = Objects.requireNonNull(policy, "policy");
            return this;
        }

        /**
         * Hashes keys before anything else sees them, also those of a {@link MissingKey}.
         *
         * @param hash the hash
         * @return this
         */
        public Builder<C> hashKeys(KeyHash hash) {
            limit.hash = Objects.requireNonNull(hash, "hash");
            return this;
        }

        /**
         * How many units a request takes; 1 by default. What the function throws, and a cost out of range, is an
         * error.
         *
         * @param cost the cost function, 1 to 2<sup>53</sup>&nbsp;&minus;&nbsp;1
         * @return this
         */
        public Builder<C> cost(ToLongFunction<? super C> cost) {
            Objects.requireNonNull(cost, "cost");
            return costMono(request -> Mono.just(cost.applyAsLong(request)));
        }

        /**
         * As {@link #cost}, for a cost that takes asking. An empty {@code Mono} is an error, and so is one that
         * takes longer than the {@link #keyTimeout}.
         *
         * @param cost the cost function
         * @return this
         */
        public Builder<C> costMono(Function<? super C, ? extends Mono<Long>> cost) {
            limit.cost = Objects.requireNonNull(cost, "cost");
            return this;
        }

        /**
         * Which requests the limit is for; all by default.
         *
         * @param when true for those that it is for
         * @return this
         */
        public Builder<C> when(Predicate<? super C> when) {
            limit.when = Objects.requireNonNull(when, "when");
            return this;
        }

        /**
         * Whether the limit only looks on: it decides, takes units, and tells the listeners, but it denies
         * nothing, writes no headers, and an outage of its store is no reason to refuse. False by default.
         *
         * @param dryRun true to look on
         * @return this
         */
        public Builder<C> dryRun(boolean dryRun) {
            limit.dryRun = dryRun;
            return this;
        }

        /**
         * The limit's name in headers, bodies, metrics and logs; {@code default} by default.
         *
         * @param policy printable ASCII, at least one character; another one for each limit
         * @return this
         */
        public Builder<C> policy(String policy) {
            limit.policy = Objects.requireNonNull(policy, "policy");
            return this;
        }

        /**
         * Which requests pass without any limit; none by default.
         *
         * @param skip true for those that pass
         * @return this
         */
        public Builder<C> skip(Predicate<? super C> skip) {
            this.skip = Objects.requireNonNull(skip, "skip");
            return this;
        }

        /**
         * Whether the preflight requests that browsers send of their own accord count too; false by default.
         *
         * @param limitPreflight true to count them
         * @return this
         */
        public Builder<C> limitPreflight(boolean limitPreflight) {
            this.limitPreflight = limitPreflight;
            return this;
        }

        /**
         * The headers of responses; {@link RateLimitHeaders.Family#STRUCTURED_DRAFT_11} by default.
         *
         * @param headers the writer
         * @return this
         */
        public Builder<C> headers(RateLimitHeaders headers) {
            this.headers = Objects.requireNonNull(headers, "headers");
            return this;
        }

        /**
         * The bodies of refusals; {@link RefusalBody#negotiated()} by default.
         *
         * @param body the writer
         * @return this
         */
        public Builder<C> body(RefusalBody body) {
            this.body = Objects.requireNonNull(body, "body");
            return this;
        }

        /**
         * Adds a listener.
         *
         * @param listener hears what is decided
         * @return this
         */
        public Builder<C> listener(DecisionListener listener) {
            listeners.add(Objects.requireNonNull(listener, "listener"));
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
         * @throws IllegalStateException if a key or the fail mode is missing
         * @throws IllegalArgumentException if a policy's name cannot be written in a header, or is there twice
         */
        public Admission<C> build() {
            if (failMode == null) {
                throw new IllegalStateException("failMode is missing: choose OPEN or CLOSED for when the store"
                        + " cannot decide; there is no default");
            }
            Set<String> names = new HashSet<>();
            for (LimitOptions<C> one : limits) {
                if (!names.add(one.policy)) {
                    throw new IllegalArgumentException(
                            "policy must be another one for each limit, was twice " + one.policy);
                }
            }
            return new Admission<>(this, failMode);
        }
    }
}
