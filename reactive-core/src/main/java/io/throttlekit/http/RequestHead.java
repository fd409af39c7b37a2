package io.throttlekit.http;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What every server knows of a request before its body: the method, the fields, the peer of the socket. An
 * adapter writes one over its own request.
 */
public interface RequestHead {
    /**
     * The method.
     *
     * @return as on the wire, such as {@code GET}
     */
    String method();

    /**
     * The values of a field, one for each time it was sent.
     *
     * @param name of the field, in any case
     * @return the values in the order they arrived; empty when there is none
     */
    List<String> fields(String name);

    /**
     * The address at the other end of the connection, as an IP literal and never as a name to be looked up.
     *
     * @return the literal; null when there is none, as on a Unix socket
     */
    @Nullable
    String peer();

    /**
     * The first value of a field.
     *
     * @param name of the field, in any case
     * @return null when there is none
     */
    default @Nullable String field(String name) {
        List<String> values = fields(name);
        return values.isEmpty() ? null : values.get(0);
    }

    /**
     * A head without fields and peer, for requests that came in some other way.
     *
     * @param method of the request
     * @return the head
     */
    static RequestHead of(String method) {
        Objects.requireNonNull(method, "method");
        return new RequestHead() {
            @Override
            public String method() {
                return method;
            }

            @Override
            public List<String> fields(String name) {
                return List.of();
            }

            @Override
            public @Nullable String peer() {
                return null;
            }
        };
    }
}
