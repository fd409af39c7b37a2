package io.throttlekit.peers;

import com.google.common.util.concurrent.RateLimiter;
import java.time.Duration;
import java.util.concurrent.Future;

/** Guava's RateLimiter, whose burst is what it saved in at most one second. */
@SuppressWarnings("UnstableApiUsage")
public final class Guava implements Library {
    public Guava(Servers servers) {}

    @Override
    public String name() {
        return "Guava";
    }

    @Override
    public boolean startsFull() {
        return false;
    }

    @Override
    public Limit perPeriod(String key, long limit, Duration period) {
        return limit(RateLimiter.create(limit / (period.toNanos() / 1e9)));
    }

    @Override
    public Limit evenly(String key, long perSecond) {
        return limit(RateLimiter.create(perSecond));
    }

    private static Limit limit(RateLimiter limiter) {
        return new Limit() {
            @Override
            public Answer ask(long cost) {
                return Answer.of(limiter.tryAcquire((int) cost));
            }

            @Override
            public Future<?> await() {
                throw new NotApplicable("its wait, acquire(), cannot be cancelled or interrupted");
            }
        };
    }
}
