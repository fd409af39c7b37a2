package io.throttlekit.webflux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.web.reactive.function.server.RequestPredicates.GET;
import static org.springframework.web.reactive.function.server.RouterFunctions.route;

import io.throttlekit.FailMode;
import io.throttlekit.Store;
import io.throttlekit.http.Admission;
import io.throttlekit.http.Key;
import io.throttlekit.http.MissingKey;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.FixedWindow;
import java.security.Principal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.config.EnableWebFlux;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/** An application of plain Spring, without Boot: its configuration makes the filters itself. */
class PlainSpringTest {
    private final AnnotationConfigApplicationContext context =
            new AnnotationConfigApplicationContext(Application.class);
    private final WebTestClient client =
            WebTestClient.bindToApplicationContext(context).build();

    @AfterEach
    void stop() {
        context.close();
    }

    private int status(String path, String user) {
        return client.get()
                .uri(path)
                .header("X-User", user)
                .exchange()
                .returnResult(String.class)
                .getStatus()
                .value();
    }

    private List<Integer> statuses(String... paths) {
        List<Integer> statuses = new ArrayList<>();
        for (String path : paths) {
            statuses.add(status(path, "ann"));
        }
        return statuses;
    }

    @Test
    void limitsAnnotatedMethodsAndTheirClassesByName() {
        assertThat(statuses("/class", "/class", "/method", "/class", "/free", "/free", "/free"))
                .containsExactly(200, 200, 200, 429, 200, 200, 200);
        assertThat(context.getBean(RateLimitedHandlers.class).names()).containsExactly("per-class", "per-method");
    }

    @Test
    void tellsUsersApartByTheirPrincipal() {
        assertThat(statuses("/class", "/class", "/class")).containsExactly(200, 200, 429);

        assertThat(status("/class", "ben")).isEqualTo(200);
        assertThat(status("/class", "")).isEqualTo(500);
    }

    @Test
    void takesAllThatMatchOnePatternForOne() {
        assertThat(statuses("/orders/1", "/orders/2", "/orders/3", "/items/1", "/items/2", "/items/3"))
                .containsExactly(200, 200, 429, 200, 200, 429);
    }

    @Test
    void leavesRequestsOfOtherOriginsToTheirHandlers() {
        client.get()
                .uri("/items/1")
                .header("Origin", "http://example.org")
                .exchange()
                .expectStatus()
                .isOk()
                .expectHeader()
                .exists("RateLimit");
    }

    @Test
    void takesAllThatNobodyHandlesForOne() {
        assertThat(statuses("/nowhere/1", "/nowhere/2", "/nowhere/3")).containsExactly(404, 404, 429);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebFlux
    static class Application {
        @Bean
        MemoryStore store() {
            return MemoryStore.create();
        }

        @Bean
        @Order(-200)
        WebFilter authentication() {
            return (exchange, chain) -> {
                String user = exchange.getRequest().getHeaders().getFirst("X-User");
                Mono<Principal> principal = user == null || user.isEmpty() ? Mono.empty() : Mono.just(() -> user);
                return chain.filter(exchange.mutate().principal(principal).build());
            };
        }

        @Bean
        RateLimitedHandlers annotated(List<RequestMappingHandlerMapping> mappings) {
            return RateLimitedHandlers.of(mappings);
        }

        @Bean
        RateLimitWebFilter limits(Store store) {
            return RateLimitWebFilter.of(Admission.<ServerWebExchange>builder(two(store, "class"))
                    .policy("per-class")
                    .key(ExchangeKeys.principal())
                    .when(RateLimitedHandlers.named("per-class"))
                    .and(two(store, "method"))
                    .policy("per-method")
                    .key(Key.<ServerWebExchange>of(exchange -> "everyone"))
                    .when(RateLimitedHandlers.named("per-method"))
                    .and(two(store, "template"))
                    .policy("per-template")
                    .key(ExchangeKeys.pathTemplate())
                    .onMissingKey(MissingKey.shared("none"))
                    .when(exchange -> RateLimitedHandlers.named("per-class")
                                    .or(RateLimitedHandlers.named("per-method"))
                                    .negate()
                                    .test(exchange)
                            && !exchange.getRequest().getPath().value().equals("/free"))
                    .failMode(FailMode.CLOSED)
                    .build());
        }

        private static Limiter two(Store store, String prefix) {
            return Limiter.builder(FixedWindow.of(2, Duration.ofHours(1)))
                    .store(store)
                    .prefix(prefix)
                    .build();
        }

        @Bean
        RouterFunction<ServerResponse> routes() {
            return route(GET("/items/{id}"), request -> ServerResponse.ok().bodyValue("an item"));
        }

        @Bean
        Limited limited() {
            return new Limited();
        }

        @Bean
        Orders orders() {
            return new Orders();
        }
    }

    @RestController
    @RateLimited("per-class")
    static class Limited {
        @GetMapping("/class")
        String ofTheClass() {
            return "hello";
        }

        @GetMapping("/method")
        @RateLimited("per-method")
        String ofItsOwn() {
            return "hello";
        }

        @GetMapping("/free")
        @RateLimited({})
        String free() {
            return "hello";
        }
    }

    @RestController
    static class Orders {
        @GetMapping("/orders/{id}")
        String order(@PathVariable("id") String id) {
            return id;
        }
    }
}
