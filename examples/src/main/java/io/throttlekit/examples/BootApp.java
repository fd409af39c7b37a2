package io.throttlekit.examples;

import io.throttlekit.webflux.RateLimited;
import java.io.PrintStream;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/**
 * A Spring Boot application whose limits are properties alone: see {@code application.yaml}. The annotation
 * {@code @RateLimited("orders")} puts a method under one of them.
 *
 * <p>It asks itself, and prints
 *
 * <pre>{@code
 * ann /api/hello: 200, RateLimit-Policy: "api";q=2;w=3600, RateLimit: "api";r=1;t=1800
 * ann /api/hello: 200, RateLimit-Policy: "api";q=2;w=3600, RateLimit: "api";r=0;t=3600
 * ann /api/hello: 429, RateLimit-Policy: "api";q=2;w=3600, RateLimit: "api";r=0;t=1800, Retry-After: 1800
 * ann /orders: 200, RateLimit-Policy: "orders";q=1;w=3600, RateLimit: "orders";r=0;t=3600
 * ann /orders: 429, RateLimit-Policy: "orders";q=1;w=3600, RateLimit: "orders";r=0;t=3600, Retry-After: 3600
 * ann /open: 200
 * }</pre>
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@RestController
public class BootApp {
    /** For Spring. */
    public BootApp() {}

    /**
     * Runs once and ends.
     *
     * @param args further properties, such as {@code --throttlekit.limits.api.limit=3}
     */
    public static void main(String[] args) {
        run(System.out, args);
    }

    static void run(PrintStream out, String... args) {
        try (ConfigurableApplicationContext application = SpringApplication.run(BootApp.class, args)) {
            int port = application.getEnvironment().getRequiredProperty("local.server.port", int.class);
            Caller caller = new Caller(port, out);
            caller.get("/api/hello", "ann");
            caller.get("/api/hello", "ann");
            caller.get("/api/hello", "ann");
            caller.get("/orders", "ann");
            caller.get("/orders", "ann");
            caller.get("/open", "ann");
        }
    }

    @GetMapping({"/api/hello", "/open"})
    Mono<String> hello() {
        return Mono.just("hello\n");
    }

    @RateLimited("orders")
    @GetMapping("/orders")
    Mono<String> orders() {
        return Mono.just("none yet\n");
    }
}
