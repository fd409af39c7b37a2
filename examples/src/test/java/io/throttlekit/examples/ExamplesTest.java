package io.throttlekit.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.conformance.PostgresServer;
import io.throttlekit.conformance.PostgresServers;
import io.throttlekit.conformance.RedisServer;
import io.throttlekit.conformance.RedisServers;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import reactor.netty.DisposableServer;

/** The examples print what their comments say. */
class ExamplesTest {
    private static List<String> printed(Consumer<PrintStream> example) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        example.accept(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        return bytes.toString(StandardCharsets.UTF_8).lines().toList();
    }

    /** The first block of code in the comment of an example. */
    private static List<String> promised(Class<?> example) throws IOException {
        Path source = Path.of("src/main/java", example.getName().replace('.', '/') + ".java");
        List<String> block = Files.readAllLines(source).stream()
                .dropWhile(line -> !line.equals(" * <pre>{@code"))
                .skip(1)
                .takeWhile(line -> !line.equals(" * }</pre>"))
                .map(line -> line.substring(" * ".length()))
                .toList();
        assertThat(block).as(() -> "what " + source + " says that it prints").isNotEmpty();
        return block;
    }

    @TestFactory
    Stream<DynamicTest> printsWhatItsCommentSays() {
        return Stream.of(
                prints(AdaptiveGuard.class, AdaptiveGuard::run),
                prints(BootApp.class, out -> BootApp.run(out)),
                prints(MonthlyQuota.class, MonthlyQuota::run),
                prints(OwnStrategyAndStore.class, OwnStrategyAndStore::run),
                prints(PacedClient.class, PacedClient::run),
                prints(PlainReactor.class, PlainReactor::run),
                prints(TwoTierFleet.class, TwoTierFleet::run),
                prints(VertxOnPg.class, out -> VertxOnPg.run("", out)),
                prints(WebFluxOnRedis.class, out -> WebFluxOnRedis.run("", out)));
    }

    private static DynamicTest prints(Class<?> example, Consumer<PrintStream> run) {
        return DynamicTest.dynamicTest(
                example.getSimpleName(), () -> assertThat(printed(run)).containsExactlyElementsOf(promised(example)));
    }

    @Test
    void webFluxOnRedisTakesAServerAndPrintsTheSameEachTime() throws IOException {
        try (RedisServer redis = RedisServers.any()) {
            for (int run = 0; run < 2; run++) {
                assertThat(printed(out -> WebFluxOnRedis.run(redis.uri(), out)))
                        .containsExactlyElementsOf(promised(WebFluxOnRedis.class));
            }
        }
    }

    @Test
    void vertxOnPgTakesAServerAndPrintsTheSameEachTime() throws IOException {
        try (PostgresServer postgres = PostgresServers.any()) {
            String uri = postgres.uri(postgres.createDatabase());
            for (int run = 0; run < 2; run++) {
                assertThat(printed(out -> VertxOnPg.run(uri, out)))
                        .containsExactlyElementsOf(promised(VertxOnPg.class));
            }
        }
    }

    @Test
    void webFluxAppServes() throws IOException {
        DisposableServer[] server = new DisposableServer[1];

        List<String> printed = printed(out -> server[0] = WebFluxApp.run(0, out));

        assertThat(printed).containsExactlyElementsOf(withPort(promised(WebFluxApp.class), 8080, server[0].port()));
        fiveAndThenNone(server[0].port());
        server[0].disposeNow();
    }

    @Test
    void vertxAppServes() throws IOException {
        Vertx vertx = Vertx.vertx();
        HttpServer[] server = new HttpServer[1];

        List<String> printed = printed(out -> server[0] = VertxApp.run(vertx, 0, out)
                .toCompletionStage()
                .toCompletableFuture()
                .join());

        assertThat(printed).containsExactlyElementsOf(withPort(promised(VertxApp.class), 8081, server[0].actualPort()));
        fiveAndThenNone(server[0].actualPort());
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    private static List<String> withPort(List<String> lines, int said, int taken) {
        return lines.stream()
                .map(line -> line.replace(":" + said + "/", ":" + taken + "/"))
                .toList();
    }

    private static void fiveAndThenNone(int port) {
        List<HttpResponse<String>> responses =
                IntStream.range(0, 6).mapToObj(i -> get(port)).toList();

        assertThat(responses).extracting(HttpResponse::statusCode).containsExactly(200, 200, 200, 200, 200, 429);
        assertThat(responses.get(5).headers().firstValue("Retry-After")).hasValue("2");
    }

    private static HttpResponse<String> get(int port) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/hello"))
                .build();
        return HttpClient.newHttpClient()
                .sendAsync(request, BodyHandlers.ofString())
                .join();
    }
}
