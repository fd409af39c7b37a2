package io.throttlekit.webflux.autoconfigure;

import io.throttlekit.Strategy;
import io.throttlekit.webflux.autoconfigure.ThrottleKitProperties.Limit;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/** Lists the limits of the application; neither their keys nor the secret are in it. */
@Endpoint(id = "ratelimits")
final class LimitsEndpoint {
    private final Limits limits;
    private final ThrottleKitProperties properties;

    LimitsEndpoint(Limits limits, ThrottleKitProperties properties) {
        this.limits = limits;
        this.properties = properties;
    }

    /** The limits by name. */
    @ReadOperation
    public Listing limits() {
        Map<String, Entry> entries = new TreeMap<>();
        limits.limiters().forEach((name, limiter) -> entries.put(name, entry(name, limiter.strategy())));
        return new Listing(Objects.requireNonNull(properties.failMode()).name(), entries);
    }

    private Entry entry(String name, Strategy<?> strategy) {
        Limit limit = Objects.requireNonNull(properties.limits().get(name));
        return new Entry(
                strategy.name(),
                strategy.limit(),
                strategy.window(),
                limit.paths(),
                limit.methods(),
                limit.key(),
                limit.dryRun());
    }

    /** All limits. */
    record Listing(String failMode, Map<String, Entry> limits) {}

    /** One limit. */
    record Entry(
            String strategy,
            long limit,
            @Nullable Duration window,
            List<String> paths,
            List<String> methods,
            List<String> key,
            boolean dryRun) {}
}
