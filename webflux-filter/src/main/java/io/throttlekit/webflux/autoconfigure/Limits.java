package io.throttlekit.webflux.autoconfigure;

import io.throttlekit.FailMode;
import io.throttlekit.Store;
import io.throttlekit.Strategy;
import io.throttlekit.http.Admission;
import io.throttlekit.http.DecisionListener;
import io.throttlekit.http.Key;
import io.throttlekit.http.KeyHash;
import io.throttlekit.http.MissingKey;
import io.throttlekit.http.RateLimitHeaders;
import io.throttlekit.limiter.LeaseOptions;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.limiter.TwoTier;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.Quota;
import io.throttlekit.strategy.SlidingWindow;
import io.throttlekit.strategy.SlidingWindowLog;
import io.throttlekit.strategy.TokenBucket;
import io.throttlekit.webflux.ExchangeKeys;
import io.throttlekit.webflux.RateLimitedHandlers;
import io.throttlekit.webflux.autoconfigure.ThrottleKitProperties.Limit;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpMethod;
import org.springframework.http.server.PathContainer;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The limits of the properties, made: a limiter for each name, and an admission over all of them. */
final class Limits {
    private final ThrottleKitProperties properties;
    private final Store store;
    private final Function<String, @Nullable Key<ServerWebExchange>> keyBeans;
    private final Map<String, Limiter> limiters = new LinkedHashMap<>();

    Limits(ThrottleKitProperties properties, Store store, Function<String, @Nullable Key<ServerWebExchange>> keyBeans) {
        this.properties = properties;
        this.store = store;
        this.keyBeans = keyBeans;
        checked("throttlekit.client", () -> properties.client().address());
        // By name, so that what is listed and what is asked first is no matter of hashing.
        new TreeMap<>(properties.limits()).forEach((name, limit) -> limiters.put(name, limiter(name, limit)));
    }

    /** Gives back what is leased. Spring calls it, before it closes the store. */
    public Mono<Void> close() {
        return Flux.fromIterable(limiters.values()).flatMap(Limiter::close).then();
    }

    Map<String, Limiter> limiters() {
        return Map.copyOf(limiters);
    }

    Set<String> names() {
        return limiters.keySet();
    }

    /** An admission that lets everything pass when there are no limits. */
    Admission<ServerWebExchange> admission(FailMode failMode, List<DecisionListener> listeners) {
        Admission.Builder<ServerWebExchange> builder = null;
        for (Map.Entry<String, Limiter> entry : limiters.entrySet()) {
            builder = builder == null ? Admission.builder(entry.getValue()) : builder.and(entry.getValue());
            describe(builder, entry.getKey());
        }
        if (builder == null) {
            builder = Admission.<ServerWebExchange>choosing(exchange -> null).key(exchange -> null);
        }
        listeners.forEach(builder::listener);
        return builder.failMode(failMode)
                .outageRetryAfter(properties.outageRetryAfter())
                .headers(RateLimitHeaders.of(properties.headers().toArray(RateLimitHeaders.Family[]::new)))
                .build();
    }

    private void describe(Admission.Builder<ServerWebExchange> builder, String name) {
        Limit limit = property(name);
        builder.policy(name).key(key(name, limit)).when(when(name, limit)).dryRun(limit.dryRun());
        if (limit.cost() != 1) {
            builder.cost(exchange -> limit.cost());
        }
        if (limit.onMissingKey() != Limit.Missing.ERROR) {
            builder.onMissingKey(
                    limit.onMissingKey() == Limit.Missing.UNLIMITED
                            ? MissingKey.unlimited()
                            : MissingKey.shared("(none)"));
        }
        String secret = properties.keySecret();
        if (secret != null) {
            builder.hashKeys(
                    checked("throttlekit.key-secret", () -> KeyHash.hmac(secret.getBytes(StandardCharsets.UTF_8))));
        }
    }

    private Limit property(String name) {
        Limit limit = properties.limits().get(name);
        if (limit == null) {
            throw new IllegalStateException("no limit has the name " + name);
        }
        return limit;
    }

    private Limiter limiter(String name, Limit limit) {
        String property = "throttlekit.limits." + name;
        Strategy<?> strategy = checked(property, () -> strategy(property, limit));
        if (limit.cost() > strategy.limit()) {
            throw new IllegalArgumentException(property + ".cost must be at most " + strategy.limit()
                    + ", which is all that is ever allowed at once, was " + limit.cost());
        }
        return checked(property, () -> switch (limit.tier()) {
            case NONE -> Limiter.builder(strategy).store(store).prefix(name).build();
            case CACHED_DENY -> TwoTier.cachedDeny(strategy, store).prefix(name).build();
            case LEASED ->
                TwoTier.leased(strategy, store, LeaseOptions.batch(limit.leaseBatch()))
                        .prefix(name)
                        .build();
        });
    }

    private static Strategy<?> strategy(String property, Limit limit) {
        long units = required(property + ".limit", limit.limit());
        Duration period = period(property, limit);
        Long burst = limit.burst();
        if (limit.cost() < 1) {
            throw new IllegalArgumentException(property + ".cost must be at least 1, was " + limit.cost());
        }
        boolean bursts = limit.strategy() == ThrottleKitProperties.StrategyKind.GCRA
                || limit.strategy() == ThrottleKitProperties.StrategyKind.TOKEN_BUCKET;
        if (burst != null && !bursts) {
            throw new IllegalArgumentException(property + ".burst is for gcra and token-bucket only, was " + burst);
        }
        return switch (limit.strategy()) {
            case GCRA ->
                burst == null ? Gcra.of(units, period) : Gcra.of(units, period).withBurst(burst);
            case TOKEN_BUCKET -> TokenBucket.of(burst == null ? units : burst, units, period);
            case FIXED_WINDOW -> FixedWindow.of(units, period);
            case SLIDING_WINDOW -> SlidingWindow.of(units, period);
            case SLIDING_WINDOW_LOG -> SlidingWindowLog.of(units, period);
            case DAILY_QUOTA -> Quota.daily(units).in(limit.zone());
            case WEEKLY_QUOTA -> Quota.weekly(units).in(limit.zone());
            case MONTHLY_QUOTA -> Quota.monthly(units).in(limit.zone());
        };
    }

    /** Zero for the strategies that have none. */
    private static Duration period(String property, Limit limit) {
        boolean calendar = limit.strategy() == ThrottleKitProperties.StrategyKind.DAILY_QUOTA
                || limit.strategy() == ThrottleKitProperties.StrategyKind.WEEKLY_QUOTA
                || limit.strategy() == ThrottleKitProperties.StrategyKind.MONTHLY_QUOTA;
        if (!calendar) {
            return required(property + ".period", limit.period());
        }
        if (limit.period() != null) {
            throw new IllegalArgumentException(
                    property + ".period is that of the calendar already, was " + limit.period());
        }
        return Duration.ZERO;
    }

    private static <T> T required(String property, @Nullable T value) {
        if (value == null) {
            throw new IllegalArgumentException(property + " is missing");
        }
        return value;
    }

    private Key<ServerWebExchange> key(String name, Limit limit) {
        List<Key<ServerWebExchange>> parts = new ArrayList<>();
        for (String part : limit.key()) {
            parts.add(key("throttlekit.limits." + name + ".key", part));
        }
        if (parts.isEmpty()) {
            throw new IllegalArgumentException("throttlekit.limits." + name + ".key is missing");
        }
        return parts.size() == 1 ? parts.get(0) : Key.together(parts);
    }

    private Key<ServerWebExchange> key(String property, String part) {
        if (part.startsWith("header:") && part.length() > "header:".length()) {
            return checked(property, () -> Key.header(part.substring("header:".length())));
        }
        return switch (part) {
            case "address" ->
                Key.address(
                        checked("throttlekit.client", () -> properties.client().address()));
            case "principal" -> ExchangeKeys.principal();
            case "path-template" -> ExchangeKeys.pathTemplate();
            default -> {
                Key<ServerWebExchange> bean = keyBeans.apply(part);
                if (bean == null) {
                    throw new IllegalArgumentException(property
                            + " must be address, principal, path-template, header:Name or the name of a Key bean, was "
                            + part);
                }
                yield bean;
            }
        };
    }

    private static Predicate<ServerWebExchange> when(String name, Limit limit) {
        Predicate<ServerWebExchange> annotated = RateLimitedHandlers.named(name);
        String property = "throttlekit.limits." + name;
        if (limit.paths().isEmpty()) {
            if (!limit.methods().isEmpty()) {
                throw new IllegalArgumentException(property + ".methods need paths, were " + limit.methods());
            }
            return annotated;
        }
        List<PathPattern> patterns = limit.paths().stream()
                .map(path -> checked(property + ".paths", () -> PathPatternParser.defaultInstance.parse(path)))
                .toList();
        List<String> methods = limit.methods().stream()
                .map(method -> method.toUpperCase(Locale.ROOT))
                .toList();
        List<String> known =
                Stream.of(HttpMethod.values()).map(HttpMethod::name).toList();
        if (!known.containsAll(methods)) {
            throw new IllegalArgumentException(property + ".methods must be of " + known + ", were " + limit.methods());
        }
        Predicate<ServerWebExchange> byPath = exchange -> {
            PathContainer path = exchange.getRequest().getPath().pathWithinApplication();
            return (methods.isEmpty()
                            || methods.contains(
                                    exchange.getRequest().getMethod().name()))
                    && patterns.stream().anyMatch(pattern -> pattern.matches(path));
        };
        return byPath.or(annotated);
    }

    static <T> T checked(String property, Supplier<T> made) {
        try {
            return made.get();
        } catch (IllegalArgumentException | IllegalStateException e) {
            String message = String.valueOf(e.getMessage());
            throw message.startsWith("throttlekit.") ? e : new IllegalArgumentException(property + ": " + message, e);
        }
    }
}
