package io.throttlekit.webflux.autoconfigure;

import io.throttlekit.FailMode;
import io.throttlekit.Store;
import io.throttlekit.http.DecisionListener;
import io.throttlekit.http.Key;
import io.throttlekit.pg.PgStore;
import io.throttlekit.redis.RedisStore;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.webflux.RateLimitWebFilter;
import io.throttlekit.webflux.RateLimitedHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;

/**
 * Limits a reactive web application by its {@code throttlekit} properties.
 *
 * <p>A bean of type {@link Store}, {@link RateLimitWebFilter} or {@link RateLimitedHandlers} of the application's
 * own takes the place of the one made here. Every {@link DecisionListener} bean hears the decisions, and a
 * {@link Key} bean is a key by its name.
 */
@AutoConfiguration
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnClass(WebFilter.class)
@ConditionalOnProperty(prefix = "throttlekit", name = "enabled", matchIfMissing = true)
@EnableConfigurationProperties(ThrottleKitProperties.class)
public final class ThrottleKitAutoConfiguration {
    /** For Spring. */
    public ThrottleKitAutoConfiguration() {}

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingBean(Store.class)
    @ConditionalOnProperty(prefix = "throttlekit", name = "store", havingValue = "memory", matchIfMissing = true)
    static class InMemory {
        @Bean
        MemoryStore throttleKitStore(ThrottleKitProperties properties) {
            return MemoryStore.builder().maxKeys(properties.memory().maxKeys()).build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingBean(Store.class)
    @ConditionalOnClass(RedisStore.class)
    @ConditionalOnProperty(prefix = "throttlekit", name = "store", havingValue = "redis")
    static class InRedis {
        @Bean
        RedisStore throttleKitStore(ThrottleKitProperties properties) {
            String uri = uri("redis", properties.redis());
            Duration deadline = properties.redis().deadline();
            return Limits.checked("throttlekit.redis", () -> {
                RedisStore.Builder store = RedisStore.builder(uri);
                return (deadline == null ? store : store.deadline(deadline)).build();
            });
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingBean(Store.class)
    @ConditionalOnClass(PgStore.class)
    @ConditionalOnProperty(prefix = "throttlekit", name = "store", havingValue = "postgres")
    static class InPostgres {
        @Bean
        PgStore throttleKitStore(ThrottleKitProperties properties) {
            String uri = uri("postgres", properties.postgres());
            Duration deadline = properties.postgres().deadline();
            return Limits.checked("throttlekit.postgres", () -> {
                PgStore.Builder store = PgStore.builder(uri);
                return (deadline == null ? store : store.deadline(deadline)).build();
            });
        }
    }

    private static String uri(String store, ThrottleKitProperties.Remote remote) {
        String uri = remote.uri();
        if (uri == null || uri.isBlank()) {
            throw new IllegalArgumentException("throttlekit." + store + ".uri is missing");
        }
        return uri;
    }

    @Bean
    Limits throttleKitLimits(ThrottleKitProperties properties, ObjectProvider<Store> store, BeanFactory beans) {
        Store found = store.getIfAvailable();
        if (found == null) {
            throw new IllegalArgumentException("throttlekit.store is "
                    + properties.store().name().toLowerCase(Locale.ROOT)
                    + ", and its module is not on the class path");
        }
        return new Limits(properties, found, name -> keyBean(beans, name));
    }

    @SuppressWarnings("unchecked")
    private static @Nullable Key<ServerWebExchange> keyBean(BeanFactory beans, String name) {
        return beans.containsBean(name) && beans.isTypeMatch(name, Key.class)
                ? (Key<ServerWebExchange>) beans.getBean(name, Key.class)
                : null;
    }

    @Bean
    @ConditionalOnMissingBean
    RateLimitWebFilter rateLimitWebFilter(
            Limits limits, ThrottleKitProperties properties, ObjectProvider<DecisionListener> listeners) {
        FailMode failMode = properties.failMode();
        if (failMode == null) {
            throw new MissingFailModeException();
        }
        return RateLimitWebFilter.of(
                        limits.admission(failMode, listeners.orderedStream().toList()))
                .withOrder(properties.order());
    }

    @Bean
    @ConditionalOnMissingBean
    RateLimitedHandlers rateLimitedHandlers(
            Limits limits, ThrottleKitProperties properties, ObjectProvider<RequestMappingHandlerMapping> mappings) {
        List<RequestMappingHandlerMapping> found = mappings.orderedStream().toList();
        RateLimitedHandlers handlers = RateLimitedHandlers.of(found);
        Set<String> unknown = new TreeSet<>(handlers.names());
        unknown.removeAll(limits.names());
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException("@RateLimited names limits that are not there: " + unknown
                    + "; throttlekit.limits has " + limits.names());
        }
        // Nobody asks for a method when none is annotated.
        RateLimitedHandlers used = handlers.names().isEmpty() ? RateLimitedHandlers.of(List.of()) : handlers;
        int before = properties.order() == Ordered.HIGHEST_PRECEDENCE ? properties.order() : properties.order() - 1;
        return used.withOrder(before);
    }
}
