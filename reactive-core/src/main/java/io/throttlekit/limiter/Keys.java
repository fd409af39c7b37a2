package io.throttlekit.limiter;

import io.throttlekit.Decision;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What all limiters ask of keys and prefixes. */
final class Keys {
    private static final Pattern PREFIX = Pattern.compile("[A-Za-z0-9_.-]+");

    private Keys() {}

    /** A prefix with its colon. */
    static String prefix(String prefix) {
        if (!PREFIX.matcher(prefix).matches()) {
            throw new IllegalArgumentException("prefix must match " + PREFIX + ", was \"" + prefix + "\"");
        }
        return prefix + ":";
    }

    /** The keys in their order, if they are distinct and not too many. */
    static List<String> distinct(Collection<String> keys) {
        if (keys.size() > Limiter.MAX_KEYS_TOGETHER) {
            throw new IllegalArgumentException(
                    "there must be at most " + Limiter.MAX_KEYS_TOGETHER + " keys, were " + keys.size());
        }
        Set<String> seen = new HashSet<>();
        for (String key : keys) {
            if (!seen.add(key)) {
                throw new IllegalArgumentException("keys must be distinct, one was there twice");
            }
        }
        return List.copyOf(keys);
    }

    /** Checks all keys concurrently, each with its own outcome. */
    static Mono<List<Checked>> checkEach(List<String> keys, Function<String, Mono<Decision>> check) {
        if (keys.isEmpty()) {
            return Mono.just(List.of());
        }
        return Flux.fromIterable(keys)
                .flatMapSequential(
                        key -> check.apply(key)
                                .map(decision -> new Checked(key, decision, null))
                                .onErrorResume(error -> Mono.just(new Checked(key, null, error))),
                        keys.size())
                .collectList();
    }
}
