package io.throttlekit.http;

import io.throttlekit.Decision;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.Strategy;
import io.throttlekit.SynchronousAccessException;
import io.throttlekit.limiter.Limiter;
import java.time.Duration;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * One limit of an {@link Admission}: finds the key and the cost of a request and has them checked.
 *
 * <p>It is asked within the subscription of its request. So what is known at once, as over a store in this process,
 * is taken here and now, without an operator for each step: that is most of what a limit costs a server.
 */
final class Gate<C> {
    private final String name;
    private final Function<? super C, ? extends @Nullable Limiter> limiter;
    private final Key<? super C> key;
    private final @Nullable KnownKey<? super C> knownKey;
    private final @Nullable Limiter only;
    private final Duration keyTimeout;
    private final MissingKey onMissingKey;
    private final MissingKey onKeyError;
    private final MissingKey onKeyTimeout;
    private final @Nullable KeyHash hash;
    private final @Nullable Function<? super C, ? extends Mono<Long>> cost;
    private final Predicate<? super C> when;
    private final boolean dryRun;
    private final Failures keyFailures;

    /** The policy of the strategy seen last: a limit has one, unless its limiter depends on the request. */
    private volatile @Nullable Written written;

    Gate(LimitOptions<C> options, Key<? super C> key) {
        this.name = options.policy;
        this.limiter = options.limiter;
        this.key = key;
        this.knownKey = key instanceof KnownKey<? super C> known ? known : null;
        this.only = options.only;
        this.keyTimeout = options.keyTimeout;
        this.onMissingKey = options.onMissingKey;
        this.onKeyError = options.onKeyError;
        this.onKeyTimeout = options.onKeyTimeout;
        this.hash = options.hash;
        this.cost = options.cost;
        this.when = options.when;
        this.dryRun = options.dryRun;
        this.keyFailures = new Failures("limit " + name + ": the key could not be told");
    }

    String name() {
        return name;
    }

    boolean dryRun() {
        return dryRun;
    }

    /** Whether there is never anything to wait for, so that {@link #checkNow} will do. */
    boolean isImmediate() {
        return only != null && knownKey != null && cost == null && isSynchronous(only);
    }

    private static boolean isSynchronous(Limiter limiter) {
        try {
            limiter.checkManySync(List.of());
            return true;
        } catch (SynchronousAccessException e) {
            return false;
        }
    }

    /** As {@link #check}, for a gate that is immediate: null when this limit does not apply to the request. */
    @Nullable
    Verdict checkNow(C request, RequestHead head, Recorder recorder) {
        Limiter chosen = Objects.requireNonNull(only);
        String text = when.test(request) ? keyNow(Objects.requireNonNull(knownKey), request, head) : null;
        if (text == null) {
            return null;
        }
        String hashed = hash == null ? text : hash.of(text);
        long start = recorder.now();
        Decision decision;
        try {
            decision = chosen.checkSync(hashed);
        } catch (StoreUnavailableException outage) {
            return undecided(outage, chosen, hashed, recorder, start);
        }
        return decided(decision, chosen, hashed, recorder, start);
    }

    private @Nullable String keyNow(KnownKey<? super C> known, C request, RequestHead head) {
        String text;
        try {
            text = known.now(request, head);
        } catch (RuntimeException e) {
            keyFailures.add(e);
            return insteadOf(onKeyError, e);
        }
        return text == null || text.isEmpty() ? insteadOf(onMissingKey, noKey()) : text;
    }

    /** The key of the requests without one; null where they are not limited. */
    private static @Nullable String insteadOf(MissingKey policy, RuntimeException error) {
        String shared = policy.sharedKey();
        if (shared == null && !policy.isUnlimited()) {
            throw error;
        }
        return shared;
    }

    /** Emits what became of the request here; empty when this limit does not apply to it. To be subscribed to once. */
    Mono<Verdict> check(C request, RequestHead head, Recorder recorder) {
        if (!when.test(request)) {
            return Mono.empty();
        }
        Limiter chosen = limiter.apply(request);
        if (chosen == null) {
            return Mono.empty();
        }
        Mono<String> found = keyOf(request, head);
        if (!(found instanceof Callable<?> known)) {
            return found.flatMap(text -> weigh(chosen, text, request, recorder));
        }
        Object text;
        try {
            text = known.call();
        } catch (Exception e) {
            return Mono.error(e);
        }
        return text == null ? Mono.empty() : weigh(chosen, text.toString(), request, recorder);
    }

    private Mono<Verdict> weigh(Limiter chosen, String text, C request, Recorder recorder) {
        String hashed = hash == null ? text : hash.of(text);
        return cost == null
                ? charge(chosen, hashed, 1, recorder)
                : costOf(cost, request).flatMap(units -> charge(chosen, hashed, units, recorder));
    }

    private Mono<Verdict> charge(Limiter chosen, String text, long cost, Recorder recorder) {
        long start = recorder.now();
        Mono<Decision> check = chosen.check(text, cost);
        return check instanceof Callable<?> known
                ? chargeAtOnce(known, chosen, text, recorder, start)
                : check.map(decision -> decided(decision, chosen, text, recorder, start))
                        .onErrorResume(
                                StoreUnavailableException.class,
                                outage -> Mono.just(undecided(outage, chosen, text, recorder, start)))
                        .single();
    }

    private Mono<Verdict> chargeAtOnce(Callable<?> known, Limiter chosen, String text, Recorder recorder, long start) {
        Object decision;
        try {
            decision = known.call();
        } catch (StoreUnavailableException outage) {
            return Mono.just(undecided(outage, chosen, text, recorder, start));
        } catch (Exception e) {
            return Mono.error(e);
        }
        return decision == null
                ? Mono.error(new NoSuchElementException("the store answered nothing"))
                : Mono.just(decided((Decision) decision, chosen, text, recorder, start));
    }

    private Verdict decided(Decision decision, Limiter chosen, String text, Recorder recorder, long start) {
        recorder.decided(name, decision, !dryRun, start);
        return Verdict.decided(this, chosen, text, policy(chosen.strategy()), decision);
    }

    private Verdict undecided(
            StoreUnavailableException outage, Limiter chosen, String text, Recorder recorder, long start) {
        recorder.undecided(name, outage, start);
        return Verdict.undecided(this, chosen, text);
    }

    private RateLimitHeaders.Policy policy(Strategy<?> strategy) {
        Written last = written;
        if (last == null || last.strategy != strategy) {
            last = new Written(strategy, RateLimitHeaders.Policy.of(name, strategy));
            written = last;
        }
        return last.policy;
    }

    private Mono<String> keyOf(C request, RequestHead head) {
        Mono<String> found;
        try {
            found = key.of(request, head);
        } catch (RuntimeException e) {
            return failed(onKeyError, e);
        }
        return found instanceof Callable<?> known ? atOnce(known) : later(found);
    }

    /** What is known at once needs no timer. */
    private Mono<String> atOnce(Callable<?> known) {
        Object text;
        try {
            text = known.call();
        } catch (Exception e) {
            return failed(onKeyError, e);
        }
        return text == null || text.toString().isEmpty() ? without(onMissingKey, noKey()) : Mono.just(text.toString());
    }

    private Mono<String> later(Mono<String> found) {
        return found.timeout(keyTimeout, Mono.error(LateKey::new))
                .filter(text -> !text.isEmpty())
                .switchIfEmpty(Mono.error(EmptyKey::new))
                .onErrorResume(error -> {
                    if (error instanceof EmptyKey) {
                        return without(onMissingKey, noKey());
                    }
                    return error instanceof LateKey ? failed(onKeyTimeout, lateKey()) : failed(onKeyError, error);
                });
    }

    private Mono<String> failed(MissingKey policy, Throwable error) {
        keyFailures.add(error);
        return without(policy, error);
    }

    private static Mono<String> without(MissingKey policy, Throwable error) {
        if (policy.isUnlimited()) {
            return Mono.empty();
        }
        String shared = policy.sharedKey();
        return shared == null ? Mono.error(error) : Mono.just(shared);
    }

    private Mono<Long> costOf(Function<? super C, ? extends Mono<Long>> function, C request) {
        Mono<Long> found = function.apply(request);
        return (found instanceof Callable ? found : found.timeout(keyTimeout, Mono.error(this::lateCost)))
                .switchIfEmpty(Mono.error(() -> new IllegalStateException("the cost function gave no cost")));
    }

    private IllegalStateException noKey() {
        return new IllegalStateException("the key function gave no key");
    }

    private IllegalStateException lateKey() {
        return new IllegalStateException("the key function gave no key within " + keyTimeout);
    }

    private IllegalStateException lateCost() {
        return new IllegalStateException("the cost function gave no cost within " + keyTimeout);
    }

    private record Written(Strategy<?> strategy, RateLimitHeaders.Policy policy) {}

    /** Ours, so that a timeout within the user's own function counts as an error of that. */
    private static final class LateKey extends TimeoutException {}

    private static final class EmptyKey extends Exception {}
}
