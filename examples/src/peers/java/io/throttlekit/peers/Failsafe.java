package io.throttlekit.peers;

import dev.failsafe.RateLimiter;
import java.time.Duration;
import java.util.concurrent.Future;

/** Failsafe: bursty where a burst is asked for, smooth elsewhere. */
public final class Failsafe implements Library {
    public Failsafe(Servers servers) {}

    @Override
    public String name() {
        return "Failsafe";
    }

    @Override
    public Limit perPeriod(String key, long limit, Duration period) {
        return limit(RateLimiter.<Object>burstyBuilder(limit, period).build());
    }

    @Override
    public Limit evenly(String key, long perSecond) {
        return limit(RateLimiter.<Object>smoothBuilder(perSecond, Duration.ofSeconds(1))
                .build());
    }

    @Override
    public Limit waiting(String key, Duration interval) {
        return limit(RateLimiter.<Object>smoothBuilder(interval).build());
    }

    private static Limit limit(RateLimiter<Object> limiter) {
        return new Limit() {
            @Override
            public Answer ask(long cost) {
                return Answer.of(limiter.tryAcquirePermits((int) cost));
            }

            @Override
            public Future<?> await() {
                return Threads.waiting(() -> {
                    limiter.acquirePermit();
                    return true;
                });
            }
        };
    }
}
