package io.throttlekit.http;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Whose limit a request counts on: a client's address, an API key, a tenant, or several of these together.
 *
 * <p>An empty {@code Mono} and an empty text say that the request has no key; what becomes of it then is for
 * {@link Admission.Builder#onMissingKey}. It runs on the request's thread and must not block.
 *
 * @param <C> what the server knows a request by
 */
@FunctionalInterface
public interface Key<C> {
    /**
     * The key of a request.
     *
     * @param request as its server knows it
     * @param head what every server knows of it
     * @return at most one text
     */
    Mono<String> of(C request, RequestHead head);

    /**
     * A key that is known at once.
     *
     * @param key the function; null and empty mean that there is none
     * @param <C> what the server knows a request by
     * @return the key
     */
    static <C> Key<C> of(Function<? super C, ? extends @Nullable String> key) {
        Objects.requireNonNull(key, "key");
        return new KnownKey<>((request, head) -> key.apply(request));
    }

    /**
     * The address of the client.
     *
     * @param address how it is found
     * @param <C> what the server knows a request by
     * @return the key
     */
    static <C> Key<C> address(ClientAddress address) {
        Objects.requireNonNull(address, "address");
        return new KnownKey<>((request, head) -> address.of(head));
    }

    /**
     * The value of a field, such as {@code X-Api-Key}. Hash it with a {@link KeyHash} where it is a secret.
     *
     * <p>A field that was sent twice gives its first value, as it stands. A client chooses what it sends: use
     * this for values that were checked before, or clients will make up a fresh key for each request.
     *
     * @param name of the field
     * @param <C> what the server knows a request by
     * @return the key
     * @throws IllegalArgumentException if no field can have that name
     */
    static <C> Key<C> header(String name) {
        if (!name.matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+")) {
            throw new IllegalArgumentException("name must be the name of a header field, was \"" + name + "\"");
        }
        return new KnownKey<>((request, head) -> head.field(name));
    }

    /**
     * Several keys as one. Two requests get the same key only if every part is the same, whatever characters
     * the parts have in them; see {@link #join}. It is missing when one of the parts is.
     *
     * @param parts at least one
     * @param <C> what the server knows a request by
     * @return the key
     * @throws IllegalArgumentException if there is none
     */
    static <C> Key<C> together(List<? extends Key<? super C>> parts) {
        List<Key<? super C>> all = List.copyOf(parts);
        if (all.isEmpty()) {
            throw new IllegalArgumentException("parts must be at least 1, were 0");
        }
        return (request, head) -> {
            Mono<List<String>> texts = Mono.just(List.of());
            for (Key<? super C> part : all) {
                texts = texts.flatMap(before -> part.of(request, head)
                        .filter(text -> !text.isEmpty())
                        .map(text -> {
                            List<String> more = new ArrayList<>(before);
                            more.add(text);
                            return more;
                        }));
            }
            return texts.map(Key::join);
        };
    }

    /**
     * Joins texts so that different texts never make the same key: {@code |} between them, and a {@code \}
     * before each {@code |} and {@code \} in them.
     *
     * @param parts at least one
     * @return the key
     * @throws IllegalArgumentException if there is none
     */
    static String join(List<String> parts) {
        if (parts.isEmpty()) {
            throw new IllegalArgumentException("parts must be at least 1, were 0");
        }
        StringBuilder joined = new StringBuilder();
        for (int i = 0; i < parts.size(); i++) {
            if (i > 0) {
                joined.append('|');
            }
            String part = parts.get(i);
            for (int at = 0; at < part.length(); at++) {
                char c = part.charAt(at);
                if (c == '|' || c == '\\') {
                    joined.append('\\');
                }
                joined.append(c);
            }
        }
        return joined.toString();
    }
}
