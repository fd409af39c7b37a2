package io.throttlekit.examples.readme;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.conformance.RedisServer;
import io.throttlekit.conformance.RedisServers;
import io.throttlekit.examples.readme.webflux.WebFluxService;
import io.throttlekit.redis.RedisStore;
import io.throttlekit.webflux.RateLimited;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/**
 * README's code is in the sources of this package, its whole programs and its configuration do what README says, and
 * its commands and coordinates exist. What its fragments do is for {@link SnippetsTest}.
 */
class ReadmeTest {
    private static final Path ROOT = Path.of("..");
    private static final Path SOURCES = Path.of("src/test/java/io/throttlekit/examples/readme");
    private static final Set<String> OF_MAVEN = Set.of("skipTests", "exec.mainClass");
    private static final String[] ON_A_FREE_PORT = {
        "--server.address=127.0.0.1",
        "--server.port=0",
        "--server.shutdown=immediate",
        "--spring.reactor.netty.shutdown-quiet-period=0s",
        "--spring.main.banner-mode=off"
    };

    private final String readme = read(ROOT.resolve("README.md"));

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** The text in README between a fence with this language and the next fence. */
    private List<String> blocks(String language) {
        List<String> blocks = Pattern.compile("(?ms)^```" + language + "\n(.*?)^```$")
                .matcher(readme)
                .results()
                .map(block -> block.group(1))
                .toList();
        assertThat(blocks).as(language).isNotEmpty();
        return blocks;
    }

    private static Stream<String> found(String pattern, String text) {
        return Pattern.compile(pattern).matcher(text).results().map(match -> match.group(1));
    }

    @Test
    void showsOnlyCodeThatIsCompiledHere() throws IOException {
        List<String> sources;
        try (Stream<Path> files = Files.walk(SOURCES)) {
            sources = files.filter(file -> file.toString().endsWith(".java"))
                    .map(file -> read(file).replaceAll("\\s", ""))
                    .toList();
        }

        assertThat(blocks("java"))
                .filteredOn(block -> sources.stream().noneMatch(source -> source.contains(block.replaceAll("\\s", ""))))
                .isEmpty();
    }

    @Test
    void hasNoOtherKindsOfBlocks() {
        List<String> fences = Pattern.compile("(?m)^```.*$")
                .matcher(readme)
                .results()
                .map(MatchResult::group)
                .toList();

        assertThat(IntStream.range(0, fences.size()).filter(i -> i % 2 == 0).mapToObj(fences::get))
                .containsOnly("```java", "```yaml", "```xml");
        assertThat(IntStream.range(0, fences.size()).filter(i -> i % 2 == 1).mapToObj(fences::get))
                .containsOnly("```");
    }

    @Test
    void namesOnlyProfilesAndPropertiesThatThereAre() {
        String poms = read(ROOT.resolve("pom.xml")) + read(Path.of("pom.xml"));
        Set<String> profiles =
                found("<profile>\\s*<id>(\\w+)</id>", poms).collect(Collectors.toCollection(HashSet::new));

        assertThat(found("(?<![\\w-])-P(\\w+)", readme)).isNotEmpty().isSubsetOf(profiles);
        assertThat(found("(?<![\\w-])-D([\\w.]+)", readme).filter(name -> !OF_MAVEN.contains(name)))
                .isNotEmpty()
                .allSatisfy(name -> assertThat(poms).containsAnyOf("${" + name + "}", "<property>" + name + "<"));
    }

    @Test
    void namesOnlyExamplesThatThereAre() {
        assertThat(found("(?m)^\\| `(\\w+)` \\| prints ", readme))
                .hasSizeGreaterThan(5)
                .allSatisfy(name -> assertThat(read(Path.of("src/main/java/io/throttlekit/examples", name + ".java")))
                        .contains("public static void main(String[] args)"));
        assertThat(found("-Dexample=(\\w+)", readme))
                .filteredOn(name -> !name.equals("NAME"))
                .allSatisfy(name -> assertThat(Path.of("src/main/java/io/throttlekit/examples", name + ".java"))
                        .exists());
    }

    @Test
    void givesTheCoordinatesOfTheBuild() {
        String pom = read(ROOT.resolve("pom.xml"));
        String version = found("<artifactId>throttlekit-parent</artifactId>\\s*<version>([^<]+)<", pom)
                .findFirst()
                .orElseThrow();
        List<String> modules =
                found("<artifactId>(throttlekit-[\\w-]+)</artifactId>", pom).toList();

        assertThat(blocks("xml")).allSatisfy(block -> {
            assertThat(found("<groupId>([^<]+)<", block)).containsExactly("io.throttlekit");
            assertThat(found("<artifactId>([^<]+)<", block)).hasSize(1).isSubsetOf(modules);
            assertThat(found("<version>([^<]+)<", block)).containsExactly(version);
        });
    }

    /** Twenty requests go through, the next is denied, and README shows what both look like. */
    private void allowsTwentyAsShown(int port) {
        List<HttpResponse<String>> responses = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            responses.add(Http.get(port, "/api/hello", "X-Api-Key", "ann"));
        }

        HttpResponse<String> first = responses.get(0);
        HttpResponse<String> denied = responses.get(24);
        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(first.body()).isEqualTo("hello\n");
        assertThat(denied.statusCode()).isEqualTo(429);
        assertThat(responses)
                .filteredOn(response -> response.statusCode() == 200)
                .hasSizeGreaterThanOrEqualTo(20);
        shows(first, "RateLimit-Policy");
        shows(first, "RateLimit");
        shows(denied, "Retry-After");
        shows(denied, "Content-Type");
        assertThat(readme).contains("    " + denied.body().strip() + "\n");
        assertThat(Http.get(port, "/api/hello", "X-Api-Key", "bob").statusCode())
                .isEqualTo(200);
    }

    private void shows(HttpResponse<String> response, String name) {
        assertThat(readme)
                .contains("    " + name + ": "
                        + response.headers().firstValue(name).orElseThrow() + "\n");
    }

    @Test
    void webFluxServiceAnswersAsShown() {
        // Not with the configuration of an example, which is on this class path too.
        try (ConfigurableApplicationContext service = run(WebFluxService.class, "--spring.config.name=none")) {
            allowsTwentyAsShown(port(service));
        }
    }

    private static ConfigurableApplicationContext run(Class<?> application, String... properties) {
        return SpringApplication.run(
                application,
                Stream.concat(Stream.of(ON_A_FREE_PORT), Stream.of(properties)).toArray(String[]::new));
    }

    private static int port(ConfigurableApplicationContext application) {
        return application.getEnvironment().getRequiredProperty("local.server.port", int.class);
    }

    @Test
    void vertxServiceAnswersAsShown() {
        Vertx vertx = Vertx.vertx();
        HttpServer server = await(vertx.createHttpServer()
                .requestHandler(VertxService.router(vertx))
                .listen(0, "127.0.0.1"));

        allowsTwentyAsShown(server.actualPort());

        await(vertx.close());
    }

    private static <T> T await(Future<T> future) {
        return future.toCompletionStage().toCompletableFuture().join();
    }

    @Test
    void pacedFluxPrintsWhatIsShown() {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream before = System.out;
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            PacedFlux.main(new String[0]);
        } finally {
            System.setOut(before);
        }

        String pattern = "(?m)^ *(\\w) after (\\d+) ms$";
        List<MatchResult> lines = Pattern.compile(pattern)
                .matcher(printed.toString(StandardCharsets.UTF_8))
                .results()
                .toList();
        assertThat(lines).extracting(line -> line.group(1)).containsExactly("a", "b", "c", "d");
        assertThat(lines.stream()
                        .mapToInt(line -> Integer.parseInt(line.group(2)))
                        .sum())
                .isBetween(600, 5_000);
        assertThat(found(pattern, readme)).containsExactly("a", "b", "c", "d");
    }

    /** What README's properties limit. */
    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @RestController
    static class Shop {
        @GetMapping({"/api/hello", "/open"})
        Mono<String> hello() {
            return Mono.just("hello\n");
        }

        @RateLimited("orders")
        @GetMapping("/orders")
        Mono<String> orders() {
            return Mono.just("none yet\n");
        }

        /** In the place of Spring Security. */
        @Bean
        @Order(-200)
        WebFilter everyoneIsAnn() {
            return (exchange, chain) -> chain.filter(
                    exchange.mutate().principal(Mono.just(() -> "ann")).build());
        }
    }

    @Test
    void propertiesLimitAnApplicationOverRedis(@TempDir Path directory) throws IOException {
        assertThat(blocks("yaml")).hasSize(1);
        Path yaml = Files.writeString(
                directory.resolve("readme.yaml"), blocks("yaml").get(0));
        try (RedisServer redis = RedisServers.own();
                ConfigurableApplicationContext shop = run(
                        Shop.class,
                        "--spring.config.location=file:" + yaml,
                        "--throttlekit.redis.uri=" + redis.uri(),
                        "--throttlekit.redis.deadline=5s")) {
            int port = port(shop);

            HttpResponse<String> api = Http.get(port, "/api/hello", "X-Api-Key", "bob");
            HttpResponse<String> orders = Http.get(port, "/orders");
            IntStream.range(0, 30).forEach(i -> Http.get(port, "/orders"));

            assertThat(shop.getBean(RedisStore.class)).isNotNull();
            assertThat(redis.command("INFO", "commandstats")).asString().contains("cmdstat_evalsha");
            assertThat(api.statusCode()).isEqualTo(200);
            assertThat(api.headers().firstValue("RateLimit-Policy")).hasValue("\"api\";q=20;w=60");
            assertThat(orders.statusCode()).isEqualTo(200);
            assertThat(orders.headers().firstValue("RateLimit-Policy")).hasValue("\"orders\";q=5;w=1");
            assertThat(Http.get(port, "/open").headers().firstValue("RateLimit-Policy"))
                    .isEmpty();
        }
    }
}
