package io.throttlekit.examples;

import io.throttlekit.Decision;
import io.throttlekit.RateLimitExceededException;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.strategy.Gcra;
import java.io.PrintStream;
import java.time.Duration;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Reactor without a server: three ways to put a limit on something.
 *
 * <p>It prints
 *
 * <pre>{@code
 * check:       allowed, 2 remaining
 * dropExcess:  3 of 10 elements passed
 * guard:       called, called, called, denied
 * }</pre>
 */
public final class PlainReactor {
    private PlainReactor() {}

    /**
     * Runs once and ends.
     *
     * @param args none
     */
    public static void main(String[] args) {
        run(System.out);
    }

    static void run(PrintStream out) {
        Limiter limiter = Limiter.of(Gcra.of(3, Duration.ofMinutes(1)));

        Mono<String> check = limiter.check("ann").map(PlainReactor::describe);

        Mono<Long> passed = Flux.range(1, 10)
                .transform(limiter.<Integer>dropExcess(element -> "bob"))
                .count();

        Mono<String> guarded =
                Mono.just("called").transform(limiter.<String>guard("carol")).cast(String.class);
        Mono<String> calls = guarded.repeat(9)
                .onErrorResume(RateLimitExceededException.class, denial -> Mono.just("denied"))
                .reduce((all, next) -> all + ", " + next);

        out.println("check:       " + check.block());
        out.println("dropExcess:  " + passed.block() + " of 10 elements passed");
        out.println("guard:       " + calls.block());
        limiter.close().block();
    }

    private static String describe(Decision decision) {
        return (decision.allowed() ? "allowed, " : "denied, ") + decision.remaining() + " remaining";
    }
}
