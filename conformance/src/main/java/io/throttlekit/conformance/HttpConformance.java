package io.throttlekit.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.throttlekit.FailMode;
import io.throttlekit.ManualClock;
import io.throttlekit.Store;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.Strategy;
import io.throttlekit.http.Admission;
import io.throttlekit.http.ClientAddress;
import io.throttlekit.http.Key;
import io.throttlekit.http.MissingKey;
import io.throttlekit.http.RateLimitHeaders;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.greenbytes.http.sfv.IntegerItem;
import org.greenbytes.http.sfv.Parser;
import org.greenbytes.http.sfv.StringItem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * What an HTTP adapter must do, as tests over real connections to a server of its kind: extend it and
 * {@link #start} a server.
 *
 * <p>Both adapters of this library pass the same tests. The clients are those of the JDK, over HTTP/1.1 and
 * HTTP/2 without TLS.
 *
 * @param <C> what the server knows a request by
 */
public abstract class HttpConformance<C> {
    /** The header of a response that names the thread its handler ran on. */
    public static final String THREAD = "X-Thread";

    /** The header of a response that names the client's port, and with it the connection. */
    public static final String PEER_PORT = "X-Peer-Port";

    private static final int FIVE_MEGABYTES = 5 << 20;
    private static final Mono<Void> DOWN =
            Mono.error(() -> new StoreUnavailableException(Reason.DISCONNECTED, false, "no connection", null));

    private final ManualClock clock = ManualClock.at(1_700_000_000_000_000L);
    private final MemoryStore memory = MemoryStore.builder().clock(clock).build();
    private final Scheduler storeThread = Schedulers.newSingle("store");
    private final Store late = new GatedStore(
            memory, Mono.delay(Duration.ofMillis(50), storeThread).then());

    /** For subclasses. */
    protected HttpConformance() {}

    /**
     * Starts a server on loopback, for HTTP/1.1 and for HTTP/2 by upgrade, with an admission in front of all:
     * {@code GET /} answers {@code hello}, {@code POST /echo} the request's body, {@code GET /stream} an event
     * stream of the data {@code one}, {@code two} and {@code three}, {@code GET /broken} fails with status 500, and
     * {@code /ws} is a WebSocket. The first two have the headers {@link #THREAD} and {@link #PEER_PORT}.
     *
     * @param admission what the adapter is to ask
     * @return the port
     */
    protected abstract int start(Admission<C> admission);

    /** Stops every server that was started. */
    protected abstract void stop();

    private int port;
    private HttpClient client = client(Version.HTTP_1_1);

    @BeforeEach
    final void freshClient() {
        client = client(Version.HTTP_1_1);
    }

    @AfterEach
    final void close() {
        stop();
        storeThread.dispose();
        memory.close().block();
    }

    private static HttpClient client(Version version) {
        return HttpClient.newBuilder()
                .version(version)
                .connectTimeout(Duration.ofSeconds(10))
                .build();
    }

    private Admission.Builder<C> over(Store store, Strategy<?> strategy) {
        return Admission.<C>builder(Limiter.builder(strategy).store(store).build())
                .key(Key.header("X-Key"))
                .onMissingKey(MissingKey.shared("nobody"))
                .failMode(FailMode.CLOSED);
    }

    private Admission.Builder<C> two(Store store) {
        return over(store, FixedWindow.of(2, Duration.ofMinutes(10)));
    }

    private Admission.Builder<C> plenty(Store store) {
        return over(store, Gcra.of(1_000_000, Duration.ofMinutes(1)));
    }

    private void serve(Admission.Builder<C> admission) {
        port = start(admission.build());
    }

    private HttpRequest.Builder to(String path, String... fields) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .timeout(Duration.ofSeconds(60));
        return fields.length == 0 ? request : request.headers(fields);
    }

    private HttpResponse<String> get(String path, String... fields) throws Exception {
        return client.send(to(path, fields).build(), BodyHandlers.ofString());
    }

    private HttpResponse<byte[]> echo(BodyPublisher body, String... fields) throws Exception {
        return client.send(to("/echo", fields).POST(body).build(), BodyHandlers.ofByteArray());
    }

    private static String field(HttpResponse<?> response, String name) {
        return response.headers().firstValue(name).orElse("");
    }

    @Test
    final void allowsTheLimitAndDeniesTheRest() throws Exception {
        serve(two(memory).policy("a \"b\" \\"));

        HttpResponse<String> first = get("/");
        HttpResponse<String> second = get("/");
        HttpResponse<String> third = get("/");

        assertThat(List.of(first, second)).allSatisfy(response -> {
            assertThat(response.statusCode()).isEqualTo(200);
            assertThat(response.body()).isEqualTo("hello");
            assertThat(field(response, "Retry-After")).isEmpty();
        });
        assertThat(third.statusCode()).isEqualTo(429);
        assertThat(field(third, "Content-Type")).isEqualTo("application/problem+json");
        assertThat(field(third, "Cache-Control")).isEqualTo("no-store");
        assertThat(third.body())
                .contains("#quota-exceeded\"", "\"violated-policies\":[\"a \\\"b\\\" \\\\\"]")
                .contains("\"retryAfterSeconds\":" + field(third, "Retry-After"));
        for (HttpResponse<String> response : List.of(first, second, third)) {
            StringItem limit = only(field(response, "RateLimit"));
            StringItem policy = only(field(response, "RateLimit-Policy"));
            assertThat(List.of(limit.get(), policy.get())).containsOnly("a \"b\" \\");
            assertThat(parameter(policy, "q")).isEqualTo(2);
            assertThat(parameter(policy, "w")).isEqualTo(600);
            assertThat(parameter(limit, "r")).isEqualTo(response == first ? 1 : 0);
        }
        assertThat(parameter(only(field(third, "RateLimit")), "t"))
                .isLessThanOrEqualTo(Long.parseLong(field(third, "Retry-After")));
    }

    private static StringItem only(String field) {
        List<?> items = Parser.parseList(field).get();
        assertThat(items).hasSize(1);
        return (StringItem) items.get(0);
    }

    private static long parameter(StringItem item, String name) {
        return Objects.requireNonNull((IntegerItem) item.getParams().get(name), name)
                .getAsLong();
    }

    @Test
    final void writesItsHeadersOnWhateverAnswers() throws Exception {
        serve(plenty(memory)
                .headers(RateLimitHeaders.of(
                        RateLimitHeaders.Family.STRUCTURED_DRAFT_11, RateLimitHeaders.Family.X_RATE_LIMIT_TRIPLE)));

        HttpResponse<String> unknown = get("/nowhere");
        HttpResponse<String> broken = get("/broken");
        HttpResponse<String> stream = get("/stream");

        assertThat(unknown.statusCode()).isEqualTo(404);
        assertThat(broken.statusCode()).isEqualTo(500);
        assertThat(stream.statusCode()).isEqualTo(200);
        assertThat(stream.body()).isEqualTo("data:one\n\ndata:two\n\ndata:three\n\n");
        assertThat(List.of(unknown, broken, stream)).allSatisfy(response -> {
            assertThat(field(response, "RateLimit")).startsWith("\"default\";r=");
            assertThat(response.headers().allValues("X-RateLimit-Limit")).containsExactly("1000000");
        });
    }

    @Test
    final void tellsTimesByTheClockThatDecided() throws Exception {
        serve(two(memory)
                .headers(RateLimitHeaders.of(
                        RateLimitHeaders.Family.STRUCTURED_DRAFT_11,
                        RateLimitHeaders.Family.RATE_LIMIT_TRIPLE,
                        RateLimitHeaders.Family.X_RATE_LIMIT_TRIPLE)));

        HttpResponse<String> allowed = get("/");

        // The window of the store's clock, which is years behind that of this machine, ends 400 s later.
        assertThat(parameter(only(field(allowed, "RateLimit")), "t")).isEqualTo(400);
        assertThat(field(allowed, "RateLimit-Reset")).isEqualTo("400");
        assertThat(field(allowed, "X-RateLimit-Reset")).isEqualTo("1700000400");
    }

    @Test
    final void negotiatesTheBodyOfARefusal() throws Exception {
        serve(two(memory).cost(request -> 3));

        HttpResponse<String> plain = get("/", "Accept", "text/plain");
        HttpResponse<String> problem = get("/", "Accept", "text/html, application/json");

        assertThat(field(plain, "Content-Type")).isEqualTo("text/plain;charset=utf-8");
        assertThat(plain.body()).isEqualTo("The request costs more than the limit ever allows at once.\n");
        assertThat(field(problem, "Content-Type")).isEqualTo("application/problem+json");
        assertThat(problem.headers().firstValue("Retry-After")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"1, 1, 1", "200, 1, 1", "999, 1, 1", "1000, 1, 1", "1001, 1, 2", "1000, 2, ''"})
    final void roundsRetryAfterUpAndLeavesItOutWhenItIsNoUse(long waitMs, long cost, String seconds) throws Exception {
        serve(over(memory, Gcra.of(1, Duration.ofMillis(waitMs))).cost(request -> cost));
        get("/");

        HttpResponse<String> denied = get("/");

        assertThat(denied.statusCode()).isEqualTo(429);
        assertThat(field(denied, "Retry-After")).isEqualTo(seconds);
    }

    @Test
    final void allowsWhoObeysRetryAfter() throws Exception {
        serve(over(memory, Gcra.of(1, Duration.ofMillis(1001))));
        get("/");
        HttpResponse<String> denied = get("/");

        clock.advance(Duration.ofSeconds(Long.parseLong(field(denied, "Retry-After"))));
        HttpResponse<String> obedient = get("/");

        assertThat(obedient.statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            value = {
                "9.9.9.9:50001 # 9.9.9.9:50002 # true",
                "::ffff:9.9.9.9 # ::ffff:8.8.8.8 # false",
                "2001:db8::1 # [2001:db8::ffff]:80 # true",
                "2001:db8::1 # 2001:db8:0:1::1 # false",
                "1.1.1.1, 9.9.9.9 # 1.1.1.2, 9.9.9.9 # true",
                "9.9.9.9 # 9.9.9.9, 127.0.0.7 # true",
                "garbage # other garbage # true",
                "9.9.9.9, _hidden # 8.8.8.8, unknown # true"
            })
    final void tellsClientsBehindATrustedProxyApart(String one, String other, boolean same) throws Exception {
        serve(two(memory)
                .key(Key.address(
                        ClientAddress.builder().trustProxies("127.0.0.0/8").build())));

        get("/", "X-Forwarded-For", one);
        HttpResponse<String> second = get("/", "X-Forwarded-For", other);

        assertThat(parameter(only(field(second, "RateLimit")), "r")).isEqualTo(same ? 0 : 1);
    }

    @Test
    final void joinsAFieldThatWasSentTwiceInItsOrder() throws Exception {
        serve(two(memory)
                .key(Key.address(
                        ClientAddress.builder().trustProxies("127.0.0.0/8").build())));

        get("/", "X-Forwarded-For", "1.1.1.1", "X-Forwarded-For", "9.9.9.9");
        HttpResponse<String> second = get("/", "X-Forwarded-For", "9.9.9.9");

        assertThat(parameter(only(field(second, "RateLimit")), "r")).isZero();
    }

    @Test
    final void believesNoHeaderOfAPeerThatNobodyTrusts() throws Exception {
        serve(plenty(memory)
                .key(Key.address(
                        ClientAddress.builder().trustProxies("10.0.0.0/8").build())));

        for (int n = 0; n < 10; n++) {
            get("/", "X-Forwarded-For", "1.1.1." + n, "Forwarded", "for=1.1.1." + n);
        }
        HttpResponse<String> last = get("/");

        assertThat(parameter(only(field(last, "RateLimit")), "r")).isEqualTo(1_000_000 - 11);
    }

    @Test
    final void letsPreflightsPassFree() throws Exception {
        serve(two(memory));

        HttpResponse<String> preflight = client.send(
                to("/", "Origin", "http://example.org", "Access-Control-Request-Method", "PUT")
                        .method("OPTIONS", BodyPublishers.noBody())
                        .build(),
                BodyHandlers.ofString());
        HttpResponse<String> first = get("/");

        assertThat(field(preflight, "RateLimit")).isEmpty();
        assertThat(parameter(only(field(first, "RateLimit")), "r")).isEqualTo(1);
    }

    @Test
    final void givesBackWhatWasTakenWhenALaterLimitDenies() throws Exception {
        Limiter narrow = Limiter.builder(FixedWindow.of(1, Duration.ofMinutes(10)))
                .store(late)
                .prefix("narrow")
                .build();
        serve(over(late, Gcra.of(10, Duration.ofMinutes(1)))
                .policy("wide")
                .and(narrow)
                .policy("narrow")
                .key(Key.header("X-Key")));
        get("/", "X-Key", "a");

        HttpResponse<String> denied = get("/", "X-Key", "a");
        HttpResponse<String> again = get("/", "X-Key", "a");

        assertThat(List.of(denied, again)).allSatisfy(response -> {
            assertThat(response.statusCode()).isEqualTo(429);
            List<?> limits = Parser.parseList(field(response, "RateLimit")).get();
            assertThat(parameter((StringItem) limits.get(0), "r")).isEqualTo(9);
            assertThat(((StringItem) limits.get(1)).get()).isEqualTo("narrow");
        });
    }

    @Test
    final void followsTheFailModeWhenTheStoreIsDown() throws Exception {
        Store down = new GatedStore(memory, DOWN);

        serve(two(down).failMode(FailMode.OPEN));
        HttpResponse<String> open = get("/");
        serve(two(down).failMode(FailMode.CLOSED).outageRetryAfter(Duration.ofMillis(1200)));
        HttpResponse<String> closed = get("/");

        assertThat(open.statusCode()).isEqualTo(200);
        assertThat(field(open, "RateLimit")).isEmpty();
        assertThat(closed.statusCode()).isEqualTo(503);
        assertThat(field(closed, "Retry-After")).isEqualTo("2");
        assertThat(closed.body()).contains("#temporary-reduced-capacity\"");
    }

    @Test
    final void doesNotOpenForAFaultInTheKey() throws Exception {
        serve(two(memory)
                .failMode(FailMode.OPEN)
                .key((request, head) -> Mono.error(new IllegalStateException("a bug in the key"))));

        HttpResponse<String> response = get("/");

        assertThat(response.statusCode()).isEqualTo(500);
    }

    @ParameterizedTest
    @EnumSource
    final void keepsBodiesIntactOverALateCheckAHundredTimesOnOneConnection(Version version) throws Exception {
        serve(plenty(late));
        client = client(version);
        Random random = new Random(5);
        byte[] five = bytes(random, FIVE_MEGABYTES);
        byte[] ten = bytes(random, 10);
        byte[] chunked = bytes(random, 300_000);
        HttpResponse<String> warm = get("/");
        Set<String> connections = new HashSet<>();

        for (int i = 0; i < 25; i++) {
            for (byte[] body : List.of(new byte[0], ten, five, chunked)) {
                BodyPublisher publisher = body == chunked
                        ? BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(chunked))
                        : BodyPublishers.ofByteArray(body);
                HttpResponse<byte[]> response = echo(publisher);
                assertThat(response.statusCode()).isEqualTo(200);
                // Not containsExactly: what five megabytes differ in is of no use to a reader.
                assertThat(Arrays.equals(response.body(), body)).isTrue();
                connections.add(field(response, PEER_PORT));
            }
        }

        assertThat(warm.version()).isEqualTo(version);
        assertThat(connections).containsExactly(field(warm, PEER_PORT));
    }

    private static byte[] bytes(Random random, int size) {
        byte[] bytes = new byte[size];
        random.nextBytes(bytes);
        return bytes;
    }

    @ParameterizedTest
    @EnumSource
    final void deniesAnUnreadBodyAndServesTheNextRequest(Version version) throws Exception {
        serve(over(late, FixedWindow.of(1, Duration.ofMinutes(10))));
        client = client(version);
        byte[] body = bytes(new Random(5), FIVE_MEGABYTES);
        get("/", "X-Key", "full");

        for (int i = 0; i < 5; i++) {
            HttpResponse<byte[]> denied = echo(BodyPublishers.ofByteArray(body), "X-Key", "full");
            HttpResponse<String> next = get("/", "X-Key", "free " + i);
            assertThat(denied.statusCode()).isEqualTo(429);
            assertThat(next.statusCode()).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @EnumSource
    final void cancelsTheCheckOfAClientThatLeaves(Version version) throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch cancelled = new CountDownLatch(1);
        Mono<Void> hangs =
                Mono.<Void>never().doOnSubscribe(s -> asked.countDown()).doOnCancel(cancelled::countDown);
        AtomicReference<Mono<Void>> gate = new AtomicReference<>(Mono.empty());
        serve(plenty(new GatedStore(memory, Mono.defer(gate::get))));
        client = client(version);
        get("/");
        gate.set(hangs);

        CompletableFuture<HttpResponse<String>> leaving = client.sendAsync(to("/").build(), BodyHandlers.ofString());
        boolean wasAsked = asked.await(10, TimeUnit.SECONDS);
        leaving.cancel(true);

        assertThat(wasAsked).isTrue();
        assertThat(cancelled.await(10, TimeUnit.SECONDS)).isTrue();
    }

    /** Unlike the JDK's client it asks for {@code 100 Continue} before it sends a long body. */
    @ParameterizedTest
    @ValueSource(strings = {"--http1.1", "--http2-prior-knowledge"})
    final void servesCurlWhereItIsPresent(String version, @TempDir Path directory) throws Exception {
        assumeTrue(Curl.isPresent(), "curl is not on this machine");
        serve(over(late, FixedWindow.of(1, Duration.ofMinutes(10))));
        byte[] body = bytes(new Random(5), FIVE_MEGABYTES);
        Path sent = Files.write(directory.resolve("sent"), body);
        Path received = directory.resolve("received");
        String url = "http://127.0.0.1:" + port;
        List<String> echo = List.of(
                version,
                "--data-binary",
                "@" + sent,
                "-H",
                "Content-Type: application/octet-stream",
                "-H",
                "X-Key: curl",
                url + "/echo");
        List<String> next = List.of(version, "-H", "X-Key: another", url + "/");

        List<String> allowed = Curl.statuses(received, List.of(echo));
        boolean intact = Arrays.equals(Files.readAllBytes(received), body);
        // Some versions of curl lose an HTTP/2 connection that they use again, with and without a limit.
        List<String> others = version.equals("--http1.1")
                ? Curl.statuses(received, List.of(echo, next))
                : List.of(
                        Curl.statuses(received, List.of(echo)).get(0),
                        Curl.statuses(received, List.of(next)).get(0));

        assertThat(allowed).containsExactly("200");
        assertThat(intact).isTrue();
        assertThat(others).containsExactly("429", "200");
        assertThat(received).hasContent("hello");
    }

    @Test
    final void staysOnTheServersThreadsOverALateStore() throws Exception {
        List<String> inMemory = threads(memory);

        List<String> overALateStore = threads(late);

        assertThat(inMemory).hasSize(1);
        assertThat(overALateStore).hasSize(1).noneMatch(name -> name.startsWith("store"));
    }

    /** One connection has one event loop, so as many threads as that are seen. */
    private List<String> threads(Store store) throws Exception {
        serve(plenty(store));
        client = client(Version.HTTP_1_1);
        Set<String> names = new HashSet<>();
        for (int i = 0; i < 30; i++) {
            names.add(field(get("/"), THREAD));
            names.add(field(echo(BodyPublishers.ofString("x")), THREAD));
        }
        return new ArrayList<>(names);
    }

    @Test
    final void limitsAWebSocketBeforeItsHandshake() throws Exception {
        serve(two(late));

        for (int i = 0; i < 2; i++) {
            WebSocket socket = connect();
            socket.sendClose(WebSocket.NORMAL_CLOSURE, "").get(10, TimeUnit.SECONDS);
        }

        assertThatThrownBy(this::connect)
                .isInstanceOfSatisfying(
                        CompletionException.class,
                        failure -> assertThat(failure.getCause())
                                .isInstanceOfSatisfying(
                                        WebSocketHandshakeException.class,
                                        handshake -> assertThat(
                                                        handshake.getResponse().statusCode())
                                                .isEqualTo(429)));
    }

    private WebSocket connect() {
        return client.newWebSocketBuilder()
                .connectTimeout(Duration.ofSeconds(10))
                .buildAsync(URI.create("ws://127.0.0.1:" + port + "/ws"), new WebSocket.Listener() {})
                .join();
    }
}
