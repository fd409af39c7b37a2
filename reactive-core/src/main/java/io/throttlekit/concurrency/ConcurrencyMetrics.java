package io.throttlekit.concurrency;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * A guard's meters for Micrometer, which is an optional dependency: {@code throttlekit.concurrency.limit},
 * {@code .inflight}, {@code .noload} (a time), {@code .rejected} and {@code .dropped} (counters), each tagged
 * {@code guard=name}. The registry refers to the guard weakly.
 *
 * <pre>{@code
 * ConcurrencyMetrics.of(guard, "orders").bindTo(registry);
 * }</pre>
 */
public final class ConcurrencyMetrics implements MeterBinder {
    private static final String PREFIX = "throttlekit.concurrency.";

    private final ConcurrencyGuard guard;
    private final Tags tags;

    private ConcurrencyMetrics(ConcurrencyGuard guard, String name) {
        this.guard = Objects.requireNonNull(guard, "guard");
        this.tags = Tags.of("guard", name);
    }

    /**
     * The meters of one guard.
     *
     * @param guard the guard
     * @param name what tells it from other guards
     * @return a binder
     */
    public static ConcurrencyMetrics of(ConcurrencyGuard guard, String name) {
        return new ConcurrencyMetrics(guard, name);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        Gauge.builder(PREFIX + "limit", guard, ConcurrencyGuard::limit)
                .description("How many requests may be in flight")
                .tags(tags)
                .register(registry);
        Gauge.builder(PREFIX + "inflight", guard, ConcurrencyGuard::inFlight)
                .description("How many requests are in flight")
                .tags(tags)
                .register(registry);
        TimeGauge.builder(
                        PREFIX + "noload",
                        guard,
                        TimeUnit.NANOSECONDS,
                        g -> g.stats().noLoadRtt().toNanos())
                .description("How long requests take without a queue")
                .tags(tags)
                .register(registry);
        FunctionCounter.builder(PREFIX + "rejected", guard, g -> g.stats().rejected())
                .description("Requests refused at the limit")
                .tags(tags)
                .register(registry);
        FunctionCounter.builder(PREFIX + "dropped", guard, g -> g.stats().dropped())
                .description("Requests that timed out or were rejected by the server")
                .tags(tags)
                .register(registry);
    }
}
