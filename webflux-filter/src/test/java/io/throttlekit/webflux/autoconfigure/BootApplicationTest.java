package io.throttlekit.webflux.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.springframework.web.reactive.function.server.RequestPredicates.GET;
import static org.springframework.web.reactive.function.server.RouterFunctions.route;

import io.throttlekit.Store;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.conformance.PostgresServer;
import io.throttlekit.conformance.PostgresServers;
import io.throttlekit.conformance.RedisServer;
import io.throttlekit.conformance.RedisServers;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.webflux.RateLimited;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.ServerResponse;

/** Whole applications on servers of their own, which find the auto-configuration by themselves. */
class BootApplicationTest {
    private static final String[] LIMITS = {
        "throttlekit.fail-mode=closed",
        "throttlekit.limits.api.paths=/api/**",
        "throttlekit.limits.api.limit=2",
        "throttlekit.limits.api.period=10m",
        "throttlekit.limits.strict.limit=1",
        "throttlekit.limits.strict.strategy=monthly-quota",
        "throttlekit.limits.strict.zone=Europe/Berlin",
        "throttlekit.limits.lenient.limit=1000",
        "throttlekit.limits.lenient.period=1s"
    };

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private static ConfigurableApplicationContext run(String[] properties, String... more) {
        SpringApplication application = new SpringApplication(Application.class);
        return application.run(Stream.of(
                        Arrays.stream(properties),
                        Arrays.stream(more),
                        Stream.of(
                                "server.port=0",
                                "server.address=127.0.0.1",
                                "server.shutdown=immediate",
                                "spring.reactor.netty.shutdown-quiet-period=0s",
                                "spring.main.banner-mode=off"))
                .flatMap(some -> some)
                .map(property -> "--" + property)
                .toArray(String[]::new));
    }

    private HttpResponse<String> get(ConfigurableApplicationContext context, String path, String... fields)
            throws Exception {
        String port = context.getEnvironment().getRequiredProperty("local.server.port");
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .timeout(Duration.ofSeconds(60));
        return client.send((fields.length == 0 ? request : request.headers(fields)).build(), BodyHandlers.ofString());
    }

    private List<Integer> statuses(ConfigurableApplicationContext context, String... paths) throws Exception {
        List<Integer> statuses = new ArrayList<>();
        for (String path : paths) {
            statuses.add(get(context, path).statusCode());
        }
        return statuses;
    }

    private void limits(ConfigurableApplicationContext context) throws Exception {
        assertThat(statuses(context, "/api/annotated", "/api/functional", "/api/nowhere", "/open"))
                .containsExactly(200, 200, 429, 200);
        HttpResponse<String> denied = get(context, "/api/annotated");
        assertThat(denied.headers().firstValue("RateLimit-Policy")).hasValue("\"api\";q=2;w=600");
        assertThat(denied.headers().firstValue("Retry-After")).isPresent();
        assertThat(denied.body()).contains("\"violated-policies\":[\"api\"]");
    }

    @Test
    void limitsInMemoryAndClosesItsStore() throws Exception {
        Store store;
        try (ConfigurableApplicationContext context = run(LIMITS, "throttlekit.memory.max-keys=1000")) {
            store = context.getBean(Store.class);
            limits(context);
        }

        Limiter after =
                Limiter.builder(Gcra.of(1, Duration.ofSeconds(1))).store(store).build();

        assertThatThrownBy(() -> after.check("a").block())
                .isInstanceOfSatisfying(
                        StoreUnavailableException.class,
                        closed -> assertThat(closed.reason()).isEqualTo(Reason.CLOSED));
    }

    @Test
    void limitsInRedis() throws Exception {
        try (RedisServer redis = RedisServers.own();
                ConfigurableApplicationContext context = run(
                        LIMITS,
                        "throttlekit.store=redis",
                        "throttlekit.redis.uri=" + redis.uri(),
                        "throttlekit.redis.deadline=20s",
                        "throttlekit.key-secret=0123456789abcdef")) {
            limits(context);

            assertThat(redis.command("DBSIZE")).isEqualTo(1L);
        }
    }

    @Test
    void limitsInPostgres() throws Exception {
        try (PostgresServer postgres = PostgresServers.any()) {
            String uri = postgres.uri(postgres.createDatabase());
            try (ConfigurableApplicationContext context = run(
                    LIMITS,
                    "throttlekit.store=postgres",
                    "throttlekit.postgres.uri=" + uri,
                    "throttlekit.postgres.deadline=20s")) {
                limits(context);
            }
        }
    }

    @Test
    void limitsMethodsAndClassesByTheirAnnotations() throws Exception {
        try (ConfigurableApplicationContext context = run(LIMITS)) {
            assertThat(statuses(context, "/class/one", "/class/two", "/class/own", "/class/own", "/class/free"))
                    .containsExactly(200, 429, 200, 200, 200);
            assertThat(get(context, "/class/own").headers().firstValue("RateLimit-Policy"))
                    .hasValue("\"lenient\";q=1000;w=1");
            assertThat(get(context, "/class/free").headers().firstValue("RateLimit-Policy"))
                    .isEmpty();
        }
    }

    @Test
    void tellsItsHealthAndItsLimits() throws Exception {
        try (ConfigurableApplicationContext context = run(
                LIMITS,
                "throttlekit.key-secret=0123456789abcdef",
                "management.endpoints.web.exposure.include=ratelimits,health",
                "management.endpoint.health.show-details=always")) {
            HttpResponse<String> health = get(context, "/actuator/health");
            HttpResponse<String> limits = get(context, "/actuator/ratelimits");

            assertThat(health.statusCode()).isEqualTo(200);
            assertThat(health.body()).contains("\"throttleKit\":{", "\"limits\":3");
            assertThat(limits.statusCode()).isEqualTo(200);
            assertThat(limits.body())
                    .contains("\"api\":{\"strategy\":\"gcra\",\"limit\":2", "\"failMode\":\"CLOSED\"")
                    .doesNotContain("0123456789abcdef");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            value = {
                "throttlekit.client.trust-hops=1 # X-Forwarded-For # 1.1.1.1, 9.9.9.9 # 2.2.2.2, 9.9.9.9 # true",
                "throttlekit.client.trust-hops=2 # X-Forwarded-For # 1.1.1.1, 9.9.9.9 # 2.2.2.2, 9.9.9.9 # false",
                "throttlekit.client.trusted-proxies=127.0.0.0/8,9.0.0.0/8 # X-Forwarded-For # 1.1.1.1, 9.9.9.9 # 2.2.2.2 # false",
                "throttlekit.client.trusted-proxies=10.0.0.0/8 # X-Forwarded-For # 1.1.1.1 # 2.2.2.2 # true",
                "throttlekit.client.trusted-proxies=127.0.0.1,10.0.0.1 # X-Forwarded-For # 2001:db8::1 # 2001:db8::2 # true"
            })
    void findsTheClientAsItIsTold(String property, String field, String one, String other, boolean same)
            throws Exception {
        try (ConfigurableApplicationContext context = run(LIMITS, property)) {
            remaining(context, field, one);

            assertThat(remaining(context, field, other)).isEqualTo(same ? "r=0" : "r=1");
        }
    }

    @Test
    void readsForwardedAndWholeIpv6AddressesWhenToldTo() throws Exception {
        try (ConfigurableApplicationContext context = run(
                LIMITS,
                "throttlekit.client.trust-hops=1",
                "throttlekit.client.field=forwarded",
                "throttlekit.client.ipv6-prefix-bits=128")) {
            remaining(context, "Forwarded", "for=\"[2001:db8::1]\"");

            assertThat(remaining(context, "Forwarded", "for=\"[2001:db8::2]\"")).isEqualTo("r=1");
            assertThat(remaining(context, "Forwarded", "for=\"[2001:db8::1]:80\""))
                    .isEqualTo("r=0");
        }
    }

    private String remaining(ConfigurableApplicationContext context, String field, String value) throws Exception {
        String limit = get(context, "/api/annotated", field, value)
                .headers()
                .firstValue("RateLimit")
                .orElseThrow();
        return limit.substring(limit.indexOf("r="), limit.indexOf(";t="));
    }

    @Test
    void saysWhyAndHowWhenThereIsNoFailMode() {
        String[] rest = Arrays.copyOfRange(LIMITS, 1, LIMITS.length);

        Throwable failure = catchThrowable(() -> run(rest));

        assertThat(failure).hasRootCauseInstanceOf(MissingFailModeException.class);
        assertThat(analyses(failure)).singleElement().satisfies(analysis -> {
            assertThat(analysis.getDescription()).contains("throttlekit.fail-mode is missing");
            assertThat(analysis.getAction()).contains("throttlekit.fail-mode=open or throttlekit.fail-mode=closed");
        });
    }

    /** By the analyzers that a starting application finds. */
    private static List<FailureAnalysis> analyses(Throwable failure) {
        ArgumentResolver none = ArgumentResolver.of(BeanFactory.class, new DefaultListableBeanFactory())
                .and(Environment.class, new StandardEnvironment());
        return SpringFactoriesLoader.forDefaultResourceLocation()
                .load(FailureAnalyzer.class, none, (type, name, unfit) -> {})
                .stream()
                .map(analyzer -> analyzer.analyze(failure))
                .filter(Objects::nonNull)
                .toList();
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {
        @Bean
        Api api() {
            return new Api();
        }

        @Bean
        OfAClass ofAClass() {
            return new OfAClass();
        }

        @Bean
        RouterFunction<ServerResponse> routes() {
            return route(GET("/api/functional"), request -> ServerResponse.ok().bodyValue("hello"));
        }
    }

    @RestController
    static class Api {
        @GetMapping({"/api/annotated", "/open"})
        String get() {
            return "hello";
        }
    }

    @RestController
    @RateLimited("strict")
    static class OfAClass {
        @GetMapping({"/class/one", "/class/two"})
        String limited() {
            return "hello";
        }

        @GetMapping("/class/own")
        @RateLimited("lenient")
        String own() {
            return "hello";
        }

        @GetMapping("/class/free")
        @RateLimited({})
        String free() {
            return "hello";
        }
    }
}
