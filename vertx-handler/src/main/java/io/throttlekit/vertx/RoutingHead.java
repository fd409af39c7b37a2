package io.throttlekit.vertx;

import io.throttlekit.http.RequestHead;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A request of Vert.x. */
record RoutingHead(HttpServerRequest request) implements RequestHead {
    private static final CharSequence FORWARDED = HttpHeaders.createOptimized("Forwarded");
    private static final CharSequence X_FORWARDED_FOR = HttpHeaders.createOptimized("X-Forwarded-For");

    @Override
    public String method() {
        return request.method().name();
    }

    @Override
    public List<String> fields(String name) {
        return request.headers().getAll(name);
    }

    @Override
    public @Nullable String field(String name) {
        return request.headers().get(name);
    }

    @Override
    public @Nullable String peer() {
        SocketAddress peer = remoteAddress();
        if (peer == null || !peer.isInetSocket()) {
            return null;
        }
        String literal = peer.hostAddress();
        // Without one it is the text that somebody wrote there. It is not looked up.
        return literal == null ? peer.host() : literal;
    }

    /**
     * As the request tells it, which is the connection's unless the router allows one of the two fields. Vert.x Web
     * works out the whole URI of the request along with it, which takes longer than the limit.
     */
    private SocketAddress remoteAddress() {
        MultiMap headers = request.headers();
        return headers.contains(FORWARDED) || headers.contains(X_FORWARDED_FOR)
                ? request.remoteAddress()
                : request.connection().remoteAddress();
    }
}
