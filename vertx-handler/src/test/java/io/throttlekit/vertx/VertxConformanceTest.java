package io.throttlekit.vertx;

import io.throttlekit.conformance.HttpConformance;
import io.throttlekit.http.Admission;
import io.vertx.ext.web.RoutingContext;

class VertxConformanceTest extends HttpConformance<RoutingContext> {
    private final ConformanceServers servers = new ConformanceServers();

    @Override
    protected int start(Admission<RoutingContext> admission) {
        return servers.start(admission);
    }

    @Override
    protected void stop() {
        servers.stop();
    }
}
