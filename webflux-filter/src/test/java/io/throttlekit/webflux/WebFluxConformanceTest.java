package io.throttlekit.webflux;

import io.throttlekit.conformance.HttpConformance;
import io.throttlekit.http.Admission;
import org.springframework.web.server.ServerWebExchange;

class WebFluxConformanceTest extends HttpConformance<ServerWebExchange> {
    private final ConformanceServers servers = new ConformanceServers();

    @Override
    protected int start(Admission<ServerWebExchange> admission) {
        return servers.start(admission);
    }

    @Override
    protected void stop() {
        servers.stop();
    }
}
