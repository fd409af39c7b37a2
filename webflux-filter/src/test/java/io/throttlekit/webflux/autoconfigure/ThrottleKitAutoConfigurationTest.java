package io.throttlekit.webflux.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.throttlekit.Store;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.Transform;
import io.throttlekit.conformance.GatedStore;
import io.throttlekit.conformance.PostgresServer;
import io.throttlekit.conformance.PostgresServers;
import io.throttlekit.conformance.RedisServer;
import io.throttlekit.conformance.RedisServers;
import io.throttlekit.http.Key;
import io.throttlekit.redis.RedisStore;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.webflux.RateLimitWebFilter;
import io.throttlekit.webflux.RateLimited;
import io.throttlekit.webflux.RateLimitedHandlers;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.config.EnableWebFlux;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

class ThrottleKitAutoConfigurationTest {
    private final ReactiveWebApplicationContextRunner application = new ReactiveWebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    ThrottleKitAutoConfiguration.class, ThrottleKitActuatorAutoConfiguration.class))
            .withUserConfiguration(Application.class)
            .withPropertyValues("throttlekit.fail-mode=closed");

    private ReactiveWebApplicationContextRunner limited(String... more) {
        return application
                .withPropertyValues(
                        "throttlekit.limits.api.paths=/api/**",
                        "throttlekit.limits.api.limit=2",
                        "throttlekit.limits.api.period=10m",
                        "throttlekit.limits.strict.limit=1",
                        "throttlekit.limits.strict.period=10m",
                        "throttlekit.limits.strict.strategy=fixed-window")
                .withPropertyValues(more);
    }

    private static int status(ApplicationContext context, String path, String... header) {
        WebTestClient.RequestHeadersSpec<?> request =
                WebTestClient.bindToApplicationContext(context).build().get().uri(path);
        if (header.length == 2) {
            request.header(header[0], header[1]);
        }
        return request.exchange().returnResult(String.class).getStatus().value();
    }

    private static List<Integer> statuses(ApplicationContext context, String... paths) {
        List<Integer> statuses = new ArrayList<>();
        for (String path : paths) {
            statuses.add(status(context, path));
        }
        return statuses;
    }

    @Test
    void limitsByPath() {
        limited()
                .run(context -> assertThat(statuses(context, "/api/a", "/api/b", "/api/c", "/open"))
                        .containsExactly(200, 200, 429, 200));
    }

    @Test
    void limitsByAnnotation() {
        limited()
                .run(context -> assertThat(statuses(context, "/strict", "/strict", "/open"))
                        .containsExactly(200, 429, 200));
    }

    @Test
    void limitsByMethodAndHeaderAndCost() {
        limited(
                        "throttlekit.limits.api.methods=get",
                        "throttlekit.limits.api.key=header:X-Key,path-template",
                        "throttlekit.limits.api.cost=2",
                        "throttlekit.limits.api.on-missing-key=unlimited")
                .run(context -> {
                    assertThat(status(context, "/api/a", "X-Key", "k")).isEqualTo(200);
                    assertThat(status(context, "/api/b", "X-Key", "k")).isEqualTo(429);
                    assertThat(status(context, "/api/a", "X-Key", "l")).isEqualTo(200);
                    assertThat(statuses(context, "/api/a", "/api/a", "/api/a")).containsOnly(200);
                    WebTestClient.bindToApplicationContext(context)
                            .build()
                            .post()
                            .uri("/api/a")
                            .header("X-Key", "k")
                            .exchange()
                            .expectStatus()
                            .isOk();
                });
    }

    @Test
    void takesAKeyFromABean() {
        limited("throttlekit.limits.api.key=ownKey")
                .run(context -> assertThat(statuses(context, "/api/a", "/api/a", "/api/a"))
                        .containsExactly(200, 200, 429));
    }

    @ParameterizedTest
    @ValueSource(strings = {"gcra", "token-bucket", "fixed-window", "sliding-window", "sliding-window-log"})
    void knowsEachStrategy(String strategy) {
        limited("throttlekit.limits.api.strategy=" + strategy)
                .run(context -> assertThat(statuses(context, "/api/a", "/api/a", "/api/a"))
                        .containsExactly(200, 200, 429));
    }

    @Test
    void looksOnInADryRun() {
        limited("throttlekit.limits.api.dry-run=true")
                .run(context -> assertThat(statuses(context, "/api/a", "/api/a", "/api/a"))
                        .containsOnly(200));
    }

    @Test
    void writesTheHeadersItIsTold() {
        limited("throttlekit.headers=x-rate-limit-triple,rate-limit-triple")
                .run(context -> WebTestClient.bindToApplicationContext(context)
                        .build()
                        .get()
                        .uri("/api/a")
                        .exchange()
                        .expectHeader()
                        .valueEquals("X-RateLimit-Remaining", "1")
                        .expectHeader()
                        .valueEquals("RateLimit-Limit", "2")
                        .expectHeader()
                        .doesNotExist("RateLimit"));
    }

    @Test
    void doesNotStartWithoutAFailModeAndSaysWhyAndHow() {
        new ReactiveWebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(ThrottleKitAutoConfiguration.class))
                .withUserConfiguration(Application.class)
                .run(context -> {
                    assertThat(context).hasFailed();
                    Throwable failure = Objects.requireNonNull(context.getStartupFailure());
                    assertThat(new MissingFailModeAnalyzer().analyze(failure))
                            .isNotNull()
                            .satisfies(analysis -> {
                                assertThat(analysis.getDescription()).contains("open", "closed");
                                assertThat(analysis.getAction()).contains("throttlekit.fail-mode=open");
                            });
                });
    }

    @Test
    void needsNothingWhenItIsSwitchedOff() {
        new ReactiveWebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        ThrottleKitAutoConfiguration.class, ThrottleKitActuatorAutoConfiguration.class))
                .withPropertyValues("throttlekit.enabled=false")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(RateLimitWebFilter.class));
    }

    @Test
    void staysOutOfApplicationsThatAreNotReactive() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(ThrottleKitAutoConfiguration.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(Store.class));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            value = {
                "throttlekit.limits.api.limit=0 # throttlekit.limits.api: limit",
                "throttlekit.limits.x.period=1s # throttlekit.limits.x.limit is missing",
                "throttlekit.limits.x.limit=1 # throttlekit.limits.x.period is missing",
                "throttlekit.limits.api.period=0s # throttlekit.limits.api: p",
                "throttlekit.limits.api.strategy=daily-quota # throttlekit.limits.api.period is that of the calendar",
                "throttlekit.limits.api.zone=Mars/Olympus # zone",
                "throttlekit.limits.a|b.limit=1 # throttlekit.limits.",
                "throttlekit.limits.api.paths=/{ # throttlekit.limits.api.paths",
                "throttlekit.limits.api.key=nonsense # throttlekit.limits.api.key must be",
                "throttlekit.limits.api.cost=0 # throttlekit.limits.api.cost must be at least 1, was 0",
                "throttlekit.limits.api.cost=100000 # throttlekit.limits.api.cost must be at most",
                "throttlekit.limits.api.methods=GETT # throttlekit.limits.api.methods must be of [GET, HEAD,",
                "throttlekit.limits.x.limit=1,throttlekit.limits.x.period=1s,throttlekit.limits.x.key=address,throttlekit.limits.x.methods=GET # throttlekit.limits.x.methods need paths, were [GET]",
                "throttlekit.limits.api.key=header:X Bad # throttlekit.limits.api.key: name must be the name of a header field",
                "throttlekit.limits.strict.burst=3 # throttlekit.limits.strict.burst is for gcra",
                "throttlekit.memory.max-keys=0 # throttlekit.memory.max-keys must be at least 1, was 0",
                "throttlekit.outage-retry-after=0s # throttlekit.outage-retry-after must be more than zero",
                "throttlekit.key-secret=short # throttlekit.key-secret: secret must be",
                "throttlekit.client.trusted-proxies=example.org # throttlekit.client: network must be",
                "throttlekit.client.ipv6-prefix-bits=0 # throttlekit.client: ipv6PrefixBits",
                "throttlekit.limits.api.tier=leased,throttlekit.limits.api.lease-batch=0 # throttlekit.limits.api: batch",
                "throttlekit.store=redis # throttlekit.redis.uri is missing",
                "throttlekit.store=redis,throttlekit.redis.uri=redis://h,throttlekit.redis.deadline=0s # throttlekit.redis: deadline",
                "throttlekit.store=postgres,throttlekit.postgres.uri=nonsense # throttlekit.postgres: ",
                "throttlekit.store=postgres # throttlekit.postgres.uri is missing",
                "throttlekit.fail-mode=maybe # fail-mode",
                "throttlekit.store=cloud # store"
            })
    void refusesWrongValuesByTheirName(String property, String message) {
        limited(property.split(","))
                .run(context -> assertThat(context)
                        .hasFailed()
                        .getFailure()
                        .satisfies(failure -> assertThat(messages(failure)).contains(message)));
    }

    private static String messages(Throwable failure) {
        StringBuilder messages = new StringBuilder();
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            messages.append(cause.getMessage()).append('\n');
        }
        return messages.toString();
    }

    @Test
    void saysWhenTheModuleOfItsStoreIsNotThere() {
        limited("throttlekit.store=redis", "throttlekit.redis.uri=redis://localhost")
                .withClassLoader(new FilteredClassLoader(RedisStore.class))
                .run(context -> assertThat(context)
                        .hasFailed()
                        .getFailure()
                        .satisfies(failure -> assertThat(messages(failure))
                                .contains("throttlekit.store is redis, and its module is not on the class path")));
    }

    @Test
    void keepsItsStateInRedis() {
        try (RedisServer redis = RedisServers.any()) {
            redis.command("FLUSHALL");
            limited("throttlekit.store=redis", "throttlekit.redis.uri=" + redis.uri(), "throttlekit.redis.deadline=10s")
                    .run(context -> {
                        assertThat(statuses(context, "/api/a", "/api/a", "/api/a"))
                                .containsExactly(200, 200, 429);
                        assertThat(redis.command("DBSIZE")).isEqualTo(1L);
                    });
        }
    }

    @Test
    void answersWithinTheDeadlineWhenRedisHangsAndComesBack() {
        try (RedisServer redis = RedisServers.own()) {
            limited("throttlekit.store=redis", "throttlekit.redis.uri=" + redis.uri(), "throttlekit.redis.deadline=2s")
                    .run(context -> {
                        assertThat(status(context, "/api/a")).isEqualTo(200);
                        redis.freeze();
                        assertThat(status(context, "/api/a")).isEqualTo(503);
                        redis.thaw();
                        redis.kill();
                        assertThat(status(context, "/api/a")).isEqualTo(503);
                        assertThat(health(context)).isEqualTo(Status.DOWN);
                    });
        }
    }

    @Test
    void opensWhileRedisIsDown() {
        try (RedisServer redis = RedisServers.own()) {
            redis.kill();
            limited("throttlekit.store=redis", "throttlekit.redis.uri=" + redis.uri(), "throttlekit.fail-mode=open")
                    .run(context -> assertThat(statuses(context, "/api/a", "/api/a", "/api/a"))
                            .containsOnly(200));
        }
    }

    @Test
    void keepsItsStateInPostgres() {
        try (PostgresServer postgres = PostgresServers.any()) {
            String database = postgres.createDatabase();
            limited(
                            "throttlekit.store=postgres",
                            "throttlekit.postgres.uri=" + postgres.uri(database),
                            "throttlekit.postgres.deadline=20s")
                    .run(context -> assertThat(statuses(context, "/api/a", "/api/a", "/api/a"))
                            .containsExactly(200, 200, 429));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"cached-deny", "leased"})
    void knowsBothTiers(String tier) {
        limited("throttlekit.limits.api.tier=" + tier, "throttlekit.limits.api.lease-batch=2")
                .run(context -> assertThat(statuses(context, "/api/a", "/api/a", "/api/a"))
                        .containsExactly(200, 200, 429));
    }

    @Test
    void refusesAnAnnotationThatNamesNoLimit() {
        application.run(context -> assertThat(context)
                .hasFailed()
                .getFailure()
                .satisfies(failure ->
                        assertThat(messages(failure)).contains("names limits that are not there: [strict]")));
    }

    @Test
    void standsWhereItIsTold() {
        limited("throttlekit.order=7").run(context -> {
            assertThat(context.getBean(RateLimitWebFilter.class).getOrder()).isEqualTo(7);
            assertThat(context.getBean(RateLimitedHandlers.class).getOrder()).isEqualTo(6);
        });
    }

    @Test
    void letsABurstThroughAndNoMore() {
        limited("throttlekit.limits.api.burst=3")
                .run(context -> assertThat(statuses(context, "/api/a", "/api/a", "/api/a", "/api/a"))
                        .containsExactly(200, 200, 200, 429));
    }

    @ParameterizedTest
    @CsvSource({"error, 500, 500", "unlimited, 200, 200", "shared, 200, 429"})
    void hasAPolicyForAMissingKey(String policy, int second, int third) {
        limited("throttlekit.limits.api.key=header:X-Key", "throttlekit.limits.api.on-missing-key=" + policy)
                .run(context -> assertThat(statuses(context, "/api/a", "/api/a", "/api/a"))
                        .containsExactly(second, second, third));
    }

    @ParameterizedTest
    @ValueSource(strings = {"daily-quota", "weekly-quota", "monthly-quota"})
    void knowsTheQuotasOfACalendar(String strategy) {
        application
                .withPropertyValues(
                        "throttlekit.limits.strict.limit=1",
                        "throttlekit.limits.strict.zone=Asia/Kolkata",
                        "throttlekit.limits.strict.strategy=" + strategy)
                .run(context ->
                        assertThat(statuses(context, "/strict", "/strict")).containsExactly(200, 429));
    }

    @Test
    void hashesKeysWhenThereIsASecret() {
        limited("throttlekit.key-secret=0123456789abcdef", "throttlekit.limits.api.key=header:X-Key")
                .withUserConfiguration(Watched.class)
                .run(context -> {
                    status(context, "/api/a", "X-Key", "very secret");

                    assertThat(context.getBean(KeysSeen.class).keys())
                            .hasSize(1)
                            .allMatch(key -> key.matches("api:[A-Za-z0-9_-]{43}"));
                });
    }

    @Test
    void tellsRefusedClientsWhenToComeBackAsItIsTold() {
        limited("throttlekit.outage-retry-after=90s")
                .withUserConfiguration(Down.class)
                .run(context -> WebTestClient.bindToApplicationContext(context)
                        .build()
                        .get()
                        .uri("/api/a")
                        .exchange()
                        .expectStatus()
                        .isEqualTo(503)
                        .expectHeader()
                        .valueEquals("Retry-After", "90"));
    }

    @Test
    void leavesTheStoreToTheApplication() {
        limited().withUserConfiguration(Down.class).run(context -> {
            assertThat(context).doesNotHaveBean(MemoryStore.class);
            assertThat(status(context, "/api/a")).isEqualTo(503);
            assertThat(health(context)).isEqualTo(Status.DOWN);
        });
    }

    private static Status health(ApplicationContext context) {
        return context.getBean(LimitsHealth.class)
                .health()
                .map(health -> health.getStatus())
                .blockOptional()
                .orElseThrow();
    }

    @Test
    void opensWhenToldTo() {
        limited("throttlekit.fail-mode=open")
                .withUserConfiguration(Down.class)
                .run(context -> assertThat(status(context, "/api/a")).isEqualTo(200));
    }

    @Test
    void isHealthyAndListsItsLimits() {
        limited("throttlekit.key-secret=0123456789abcdef").run(context -> {
            LimitsEndpoint.Listing listing =
                    context.getBean(LimitsEndpoint.class).limits();

            assertThat(health(context)).isEqualTo(Status.UP);
            assertThat(listing.failMode()).isEqualTo("CLOSED");
            assertThat(listing.limits()).containsOnlyKeys("api", "strict");
            assertThat(listing.limits().get("api"))
                    .isNotNull()
                    .satisfies(limit -> assertThat(limit.paths()).containsExactly("/api/**"));
            assertThat(listing.toString()).doesNotContain("0123456789abcdef");
        });
    }

    @Test
    void countsDecisionsWhereThereIsARegistry() {
        limited().withUserConfiguration(Metered.class).run(context -> {
            statuses(context, "/api/a", "/api/a", "/api/a");

            assertThat(context.getBean(MeterRegistry.class)
                            .get("throttlekit.decisions")
                            .tags("limiter", "api", "outcome", "denied")
                            .counter()
                            .count())
                    .isEqualTo(1);
        });
    }

    @Test
    void describesEachPropertyForEditors() throws Exception {
        Set<String> names = new TreeSet<>();

        try (InputStream json =
                ThrottleKitProperties.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            for (JsonNode property : new ObjectMapper().readTree(json).get("properties")) {
                names.add(property.get("name").asText());
            }
        }

        assertThat(names).isEqualTo(properties("throttlekit", ThrottleKitProperties.class));
    }

    private static Set<String> properties(String prefix, Class<?> type) {
        Set<String> names = new TreeSet<>();
        for (RecordComponent component : type.getRecordComponents()) {
            String name = prefix + "."
                    + component.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
            names.addAll(component.getType().isRecord() ? properties(name, component.getType()) : Set.of(name));
        }
        return names;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebFlux
    static class Application {
        @Bean
        Api api() {
            return new Api();
        }

        @Bean
        Key<ServerWebExchange> ownKey() {
            return Key.of(exchange -> "everyone");
        }
    }

    @RestController
    static class Api {
        @GetMapping({"/api/{name}", "/open"})
        String get() {
            return "hello";
        }

        @PostMapping("/api/{name}")
        String post() {
            return "posted";
        }

        @RateLimited("strict")
        @GetMapping("/strict")
        String strict() {
            return "hello";
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Down {
        @Bean
        Store down() {
            return new GatedStore(
                    MemoryStore.create(),
                    Mono.error(() -> new StoreUnavailableException(Reason.DISCONNECTED, false, "no connection", null)));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Watched {
        @Bean
        KeysSeen watched() {
            return new KeysSeen(MemoryStore.create(), new CopyOnWriteArrayList<>());
        }
    }

    record KeysSeen(Store behind, List<String> keys) implements Store {
        @Override
        public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
            keys.add(key);
            return behind.apply(key, transform);
        }

        @Override
        public Mono<Void> reset(String key) {
            return behind.reset(key);
        }

        @Override
        public Mono<Void> close() {
            return behind.close();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Metered {
        @Bean
        MeterRegistry registry() {
            return new SimpleMeterRegistry();
        }
    }
}
