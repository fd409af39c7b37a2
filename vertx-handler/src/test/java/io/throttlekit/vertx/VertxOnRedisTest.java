package io.throttlekit.vertx;

import io.throttlekit.Store;
import io.throttlekit.conformance.HttpOnRedisConformance;
import io.throttlekit.http.Admission;
import io.throttlekit.redis.RedisStore;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;

class VertxOnRedisTest extends HttpOnRedisConformance<RoutingContext> {
    private final ConformanceServers servers = new ConformanceServers();

    @Override
    protected int start(Admission<RoutingContext> admission) {
        return servers.start(admission);
    }

    @Override
    protected void stop() {
        servers.stop();
    }

    @Override
    protected Store connect(String uri, Duration deadline) {
        return RedisStore.builder(uri).deadline(deadline).build();
    }
}
