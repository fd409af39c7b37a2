package io.throttlekit.limiter;

import io.throttlekit.Decision;
import reactor.core.publisher.Mono;

/** How a two-tier limiter answers: what it keeps in this process, and when it asks the second tier. */
interface Tier {
    /** Takes from {@code min} to {@code max} units, or none; the arguments are good. */
    Mono<Decision> check(String key, long min, long max);

    /** Looks without taking. */
    Mono<Decision> peek(String key);

    /** Forgets what this process keeps for a key. */
    void forget(String key);

    /** Forgets what this process keeps for a key that got units back. */
    void refunded(String key);

    /** Gives back what can be given back, and ends. */
    Mono<Void> close();
}
