package io.throttlekit.peers;

import java.time.Duration;
import java.util.concurrent.Future;
import org.redisson.Redisson;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's RRateLimiter: so many permits per interval, over all clients. */
public final class RedissonLibrary implements Library {
    private final RedissonClient client;

    public RedissonLibrary(Servers servers) {
        Config config = new Config();
        config.useSingleServer().setAddress(servers.redis());
        this.client = Redisson.create(config);
    }

    @Override
    public String name() {
        return "Redisson";
    }

    @Override
    public boolean shared() {
        return true;
    }

    @Override
    public boolean onRedis() {
        return true;
    }

    @Override
    public Limit perPeriod(String key, long limit, Duration period) {
        RRateLimiter limiter = client.getRateLimiter("redisson:" + key);
        limiter.trySetRate(RateType.OVERALL, limit, period);
        return new Limit() {
            @Override
            public Answer ask(long cost) {
                return Answer.of(limiter.tryAcquire(cost));
            }

            @Override
            public Future<?> await() {
                return limiter.acquireAsync(1).toCompletableFuture();
            }
        };
    }

    @Override
    public Limit evenly(String key, long perSecond) {
        throw new NotApplicable("its interval is in whole milliseconds, so one at a time is at most 1000/s");
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
