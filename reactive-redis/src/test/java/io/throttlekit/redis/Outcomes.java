package io.throttlekit.redis;

import io.throttlekit.Decision;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.limiter.Limiter;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * What became of calls.
 *
 * @param list one per call, in no order
 */
record Outcomes(List<Outcome> list) {
    /**
     * What became of one call.
     *
     * @param allowed whether it was
     * @param error the outage, if it was one
     * @param took from the subscription
     */
    record Outcome(boolean allowed, @Nullable StoreUnavailableException error, Duration took) {
        boolean mayHaveCharged() {
            return error != null && error.mayHaveCharged();
        }
    }

    static Mono<Outcome> of(Mono<Decision> check) {
        return check.map(decision -> new Outcome(decision.allowed(), null, Duration.ZERO))
                .onErrorResume(StoreUnavailableException.class, e -> Mono.just(new Outcome(false, e, Duration.ZERO)))
                .elapsed()
                .map(timed ->
                        new Outcome(timed.getT2().allowed, timed.getT2().error, Duration.ofMillis(timed.getT1())));
    }

    /** Checks one unit many times at once. */
    static Outcomes together(Limiter limiter, String key, int calls) {
        return new Outcomes(Await.value(
                Flux.range(0, calls).flatMap(i -> of(limiter.check(key)), calls).collectList()));
    }

    long allowed() {
        return list.stream().filter(Outcome::allowed).count();
    }

    long failed(Reason reason) {
        return list.stream()
                .filter(outcome -> outcome.error != null && outcome.error.reason() == reason)
                .count();
    }

    long mayHaveCharged() {
        return list.stream().filter(Outcome::mayHaveCharged).count();
    }

    Duration slowest() {
        return list.stream().map(Outcome::took).max(Duration::compareTo).orElse(Duration.ZERO);
    }
}
