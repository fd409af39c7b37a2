package io.throttlekit.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.limiter.Limiter;
import io.throttlekit.strategy.Gcra;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.netty.DisposableServer;

class WebFluxAppTest {
    private final DisposableServer server =
            WebFluxApp.start(0, Map.of("hello", Limiter.of(Gcra.of(2, Duration.ofMinutes(1)))));

    @AfterEach
    void stop() {
        server.disposeNow();
    }

    private HttpResponse<String> get(String path) throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + server.port() + path);
        return HttpClient.newHttpClient().send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
    }

    @Test
    void servesThePageBesideItsLimits() throws Exception {
        HttpResponse<String> page = get("/");

        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.body()).contains("What gets through?");
        assertThat(page.headers().map()).doesNotContainKey("ratelimit");
        assertThat(get("/hello").body()).isEqualTo("hello from WebFlux\n");
        assertThat(get("/hello").statusCode()).isEqualTo(200);
        assertThat(get("/hello").statusCode()).isEqualTo(429);
        assertThat(get("/other").statusCode()).isEqualTo(200);
    }
}
