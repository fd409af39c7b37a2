package io.throttlekit.vertx;

import io.throttlekit.http.RequestHead;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A request of Vert.x. */
record RoutingHead(HttpServerRequest request) implements RequestHead {
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
        SocketAddress peer = request.remoteAddress();
        if (peer == null || !peer.isInetSocket()) {
            return null;
        }
        String literal = peer.hostAddress();
        // Without one it is the text that somebody wrote there. It is not looked up.
        return literal == null ? peer.host() : literal;
    }
}
