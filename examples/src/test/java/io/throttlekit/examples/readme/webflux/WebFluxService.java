package io.throttlekit.examples.readme.webflux;

import io.throttlekit.FailMode;
import io.throttlekit.http.Admission;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.webflux.RateLimitWebFilter;
import java.time.Duration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

@SpringBootApplication
@RestController
public class WebFluxService {
    public static void main(String[] args) {
        SpringApplication.run(WebFluxService.class, args);
    }

    @Bean
    RateLimitWebFilter rateLimit() {
        Limiter limiter = Limiter.of(Gcra.of(100, Duration.ofMinutes(1)).withBurst(20));
        return RateLimitWebFilter.of(Admission.<ServerWebExchange>builder(limiter)
                .policy("per-client")
                .key(exchange -> exchange.getRequest().getHeaders().getFirst("X-Api-Key"))
                .failMode(FailMode.CLOSED)
                .build());
    }

    @GetMapping("/api/hello")
    Mono<String> hello() {
        return Mono.just("hello\n");
    }
}
