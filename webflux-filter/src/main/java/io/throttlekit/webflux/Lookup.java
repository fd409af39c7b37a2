package io.throttlekit.webflux;

import java.util.HashMap;
import java.util.Map;
import org.springframework.http.HttpHeaders;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.ServerWebExchangeDecorator;

/**
 * An exchange for asking handler mappings ahead of their time. They write what they find into its attributes, and
 * functional routes fail when they find that there again; and they would answer a request of another origin right
 * away. So the attributes are a copy, and the origin is left out.
 */
final class Lookup extends ServerWebExchangeDecorator {
    private final Map<String, Object> attributes;

    Lookup(ServerWebExchange exchange) {
        super(withoutOrigin(exchange));
        this.attributes = new HashMap<>(exchange.getAttributes());
    }

    private static ServerWebExchange withoutOrigin(ServerWebExchange exchange) {
        return exchange.getRequest().getHeaders().getOrigin() == null
                ? exchange
                : exchange.mutate()
                        .request(request -> request.headers(headers -> headers.remove(HttpHeaders.ORIGIN)))
                        .build();
    }

    @Override
    public Map<String, Object> getAttributes() {
        return attributes;
    }
}
