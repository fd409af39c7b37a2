package io.throttlekit.webflux.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import io.throttlekit.http.DecisionListener;
import io.throttlekit.http.MeteredDecisions;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Meters, health and an endpoint for the limits, each where its library is. */
@AutoConfiguration(
        after = ThrottleKitAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"
        })
@ConditionalOnBean(Limits.class)
public final class ThrottleKitActuatorAutoConfiguration {
    /** For Spring. */
    public ThrottleKitActuatorAutoConfiguration() {}

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    static class Meters {
        @Bean
        @ConditionalOnBean(MeterRegistry.class)
        DecisionListener throttleKitMeters(MeterRegistry registry) {
            return MeteredDecisions.of(registry);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ReactiveHealthIndicator.class)
    static class Health {
        @Bean
        @ConditionalOnMissingBean(name = "throttleKitHealthIndicator")
        LimitsHealth throttleKitHealthIndicator(Limits limits) {
            return new LimitsHealth(limits);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(Endpoint.class)
    static class Actuator {
        @Bean
        @ConditionalOnMissingBean
        LimitsEndpoint throttleKitEndpoint(Limits limits, ThrottleKitProperties properties) {
            return new LimitsEndpoint(limits, properties);
        }
    }
}
