package io.throttlekit.peers;

import io.github.resilience4j.ratelimiter.RateLimiter;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import java.time.Duration;
import java.util.concurrent.Future;

/** Resilience4j: so many permissions per refresh period. */
public final class Resilience4j implements Library {
    public Resilience4j(Servers servers) {}

    @Override
    public String name() {
        return "Resilience4j";
    }

    @Override
    public Limit perPeriod(String key, long limit, Duration period) {
        RateLimiter limiter = limiter(key, limit, period, Duration.ZERO);
        return new Limit() {
            @Override
            public Answer ask(long cost) {
                return Answer.of(limiter.acquirePermission((int) cost));
            }
        };
    }

    @Override
    public Limit waiting(String key, Duration interval) {
        RateLimiter limiter = limiter(key, 1, interval, Duration.ofMinutes(1));
        return new Limit() {
            @Override
            public Answer ask(long cost) {
                return Answer.of(limiter.acquirePermission((int) cost));
            }

            @Override
            public Future<?> await() {
                return Threads.waiting(() -> limiter.acquirePermission(1));
            }
        };
    }

    @Override
    public Limit evenly(String key, long perSecond) {
        return perPeriod(key, 1, Duration.ofSeconds(1).dividedBy(perSecond));
    }

    private static RateLimiter limiter(String key, long limit, Duration period, Duration timeout) {
        return RateLimiter.of(
                key,
                RateLimiterConfig.custom()
                        .limitForPeriod((int) limit)
                        .limitRefreshPeriod(period)
                        .timeoutDuration(timeout)
                        .build());
    }
}
