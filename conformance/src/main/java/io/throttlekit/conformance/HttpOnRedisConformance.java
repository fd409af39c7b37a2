package io.throttlekit.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.FailMode;
import io.throttlekit.Store;
import io.throttlekit.http.Admission;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.Gcra;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What an HTTP adapter must do while its store is a Redis server that may be killed or hang: extend it beside
 * {@link HttpConformance}. The server is a process of its own, which {@link RedisServers#own} starts.
 *
 * @param <C> what the server knows a request by
 */
public abstract class HttpOnRedisConformance<C> {
    private static final Duration PATIENT = Duration.ofSeconds(10);
    private static final Duration IMPATIENT = Duration.ofMillis(300);
    private static final int CONNECTIONS = 16;
    private static final Pattern THREAD_FIELD =
            Pattern.compile("^" + HttpConformance.THREAD + ": (.*?)\r?$", Pattern.MULTILINE | Pattern.CASE_INSENSITIVE);

    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(PATIENT)
            .build();
    private final List<Store> stores = new ArrayList<>();
    private int port;

    /** For subclasses. */
    protected HttpOnRedisConformance() {}

    /**
     * Starts a server as {@link HttpConformance#start} does.
     *
     * @param admission what the adapter is to ask
     * @return the port
     */
    protected abstract int start(Admission<C> admission);

    /** Stops every server that was started. */
    protected abstract void stop();

    /**
     * Makes a store; the test closes it.
     *
     * @param uri of a Redis server
     * @param deadline of each call
     * @return a new store
     */
    protected abstract Store connect(String uri, Duration deadline);

    @AfterEach
    final void close() {
        stop();
        stores.forEach(store -> store.close().block(PATIENT));
    }

    private void serve(Store store, FailMode failMode) {
        stores.add(store);
        port = start(Admission.<C>builder(Limiter.builder(Gcra.of(1_000_000, Duration.ofMinutes(1)))
                        .store(store)
                        .build())
                .key(request -> "everyone")
                .failMode(failMode)
                .build());
    }

    private CompletableFuture<HttpResponse<String>> get() {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/"))
                .timeout(Duration.ofSeconds(60))
                .build();
        return client.sendAsync(request, BodyHandlers.ofString());
    }

    private List<CompletableFuture<HttpResponse<String>>> burst() {
        List<CompletableFuture<HttpResponse<String>>> sent = new ArrayList<>();
        for (int i = 0; i < 2 * CONNECTIONS; i++) {
            sent.add(get());
        }
        return sent;
    }

    private static List<HttpResponse<String>> answers(List<CompletableFuture<HttpResponse<String>>> sent)
            throws Exception {
        List<HttpResponse<String>> answers = new ArrayList<>();
        for (CompletableFuture<HttpResponse<String>> one : sent) {
            answers.add(one.get(60, TimeUnit.SECONDS));
        }
        return answers;
    }

    @ParameterizedTest
    @EnumSource
    final void followsTheFailModeWhenRedisIsKilledMidTraffic(FailMode failMode) throws Exception {
        try (RedisServer redis = RedisServers.own()) {
            serve(connect(redis.uri(), PATIENT), failMode);
            List<HttpResponse<String>> before = answers(burst());
            List<CompletableFuture<HttpResponse<String>>> during = burst();
            redis.kill();
            List<HttpResponse<String>> atThatMoment = answers(during);
            List<HttpResponse<String>> after = answers(burst());
            redis.restart();
            List<HttpResponse<String>> again = answers(burst());

            assertThat(before).allSatisfy(HttpOnRedisConformance::isLimited);
            assertThat(atThatMoment)
                    .allSatisfy(response -> assertThat(response.statusCode())
                            .isIn(failMode == FailMode.OPEN ? List.of(200) : List.of(200, 503)));
            assertThat(after)
                    .allSatisfy(
                            failMode == FailMode.OPEN
                                    ? HttpOnRedisConformance::isOpen
                                    : HttpOnRedisConformance::isRefused);
            assertThat(again).allSatisfy(HttpOnRedisConformance::isLimited);
        }
    }

    @ParameterizedTest
    @EnumSource
    final void answersWithinTheDeadlineWhenRedisHangs(FailMode failMode) throws Exception {
        try (RedisServer redis = RedisServers.own()) {
            serve(connect(redis.uri(), IMPATIENT), failMode);
            redis.freeze();

            // It would hang for good without the deadline.
            List<HttpResponse<String>> answers = answers(burst());
            redis.thaw();

            assertThat(answers)
                    .allSatisfy(
                            failMode == FailMode.OPEN
                                    ? HttpOnRedisConformance::isOpen
                                    : HttpOnRedisConformance::isRefused);
        }
    }

    private static void isLimited(HttpResponse<String> response) {
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("RateLimit")).isPresent();
    }

    private static void isOpen(HttpResponse<String> response) {
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).isEqualTo("hello");
        assertThat(response.headers().firstValue("RateLimit")).isEmpty();
    }

    private static void isRefused(HttpResponse<String> response) {
        assertThat(response.statusCode()).isEqualTo(503);
        assertThat(response.headers().firstValue("Retry-After")).hasValue("1");
        assertThat(response.body()).contains("#temporary-reduced-capacity\"");
    }

    @Test
    final void handlesOnAsManyThreadsAsWithoutRedis() throws Exception {
        try (RedisServer redis = RedisServers.own()) {
            serve(MemoryStore.create(), FailMode.CLOSED);
            Set<String> inMemory = threads();
            serve(connect(redis.uri(), PATIENT), FailMode.CLOSED);

            Set<String> onRedis = threads();

            assertThat(onRedis).hasSameSizeAs(inMemory);
        }
    }

    /** A server spreads its connections over its event loops in turn. */
    private Set<String> threads() throws IOException {
        Set<String> names = new TreeSet<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            String response = onAConnectionOfItsOwn();
            Matcher name = THREAD_FIELD.matcher(response);
            assertThat(name.find()).as(response).isTrue();
            names.add(name.group(1));
        }
        return names;
    }

    private String onAConnectionOfItsOwn() throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(60_000);
            socket.getOutputStream()
                    .write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        }
    }
}
