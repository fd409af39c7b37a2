package io.throttlekit.webflux;

import io.throttlekit.Store;
import io.throttlekit.conformance.HttpOnRedisConformance;
import io.throttlekit.http.Admission;
import io.throttlekit.redis.RedisStore;
import java.time.Duration;
import org.springframework.web.server.ServerWebExchange;

class WebFluxOnRedisTest extends HttpOnRedisConformance<ServerWebExchange> {
    private final ConformanceServers servers = new ConformanceServers();

    @Override
    protected int start(Admission<ServerWebExchange> admission) {
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
