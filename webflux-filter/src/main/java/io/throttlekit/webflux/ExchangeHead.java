package io.throttlekit.webflux;

import io.throttlekit.http.RequestHead;
import java.net.InetSocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.ServerHttpRequest;

/** A request of Spring's. */
record ExchangeHead(ServerHttpRequest request) implements RequestHead {
    @Override
    public String method() {
        return request.getMethod().name();
    }

    @Override
    public List<String> fields(String name) {
        return request.getHeaders().getOrEmpty(name);
    }

    @Override
    public @Nullable String field(String name) {
        return request.getHeaders().getFirst(name);
    }

    @Override
    public @Nullable String peer() {
        InetSocketAddress peer = request.getRemoteAddress();
        if (peer == null) {
            return null;
        }
        // The text of an unresolved address is what somebody wrote there. Asking for more would look it up.
        return peer.getAddress() == null
                ? peer.getHostString()
                : peer.getAddress().getHostAddress();
    }
}
