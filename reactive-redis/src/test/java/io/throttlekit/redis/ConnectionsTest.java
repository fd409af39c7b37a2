package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.throttlekit.Decision;
import io.throttlekit.conformance.RedisServer;
import io.throttlekit.conformance.RedisServers;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.strategy.Gcra;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisOptions;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The ways to a server, and who owns what. */
class ConnectionsTest {
    private static final Gcra STRATEGY = Gcra.of(10, Duration.ofHours(1));
    private static final Duration DEADLINE = Duration.ofSeconds(10);

    @TempDir
    private static Path directory;

    private static RedisServer server;
    private static Path socket;
    private static int tlsPort;
    private static String certificate = "";

    @BeforeAll
    static void start() throws Exception {
        socket = directory.resolve("redis.sock");
        makeCertificate();
        tlsPort = freePort();
        server = RedisServers.own(
                "--unixsocket",
                socket.toString(),
                "--tls-port",
                String.valueOf(tlsPort),
                "--tls-cert-file",
                directory.resolve("cert.pem").toString(),
                "--tls-key-file",
                directory.resolve("key.pem").toString(),
                "--tls-ca-cert-file",
                directory.resolve("cert.pem").toString(),
                "--tls-auth-clients",
                "no");
        server.command("ACL", "SETUSER", "limiter", "on", ">s3cret/p@ss", "~throttlekit:*", "+@all");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static int freePort() throws Exception {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        }
    }

    private static void makeCertificate() throws Exception {
        Path store = directory.resolve("store.p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "redis",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "san=ip:127.0.0.1,dns:localhost",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        store.toString(),
                        "-storepass",
                        "changeit")
                .redirectErrorStream(true)
                .start();
        String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(keytool.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(keytool.exitValue()).as(said).isZero();
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, "changeit".toCharArray());
        }
        byte[] key = keys.getKey("redis", "changeit".toCharArray()).getEncoded();
        certificate = pem("CERTIFICATE", keys.getCertificate("redis").getEncoded());
        Files.writeString(directory.resolve("cert.pem"), certificate);
        Files.writeString(directory.resolve("key.pem"), pem("PRIVATE KEY", key));
    }

    private static String pem(String what, byte[] content) {
        return "-----BEGIN " + what + "-----\n" + Base64.getMimeEncoder().encodeToString(content) + "\n-----END " + what
                + "-----\n";
    }

    private static Decision check(RedisStore store, String key) {
        return Await.value(
                Limiter.builder(STRATEGY).store(store).build().check(key).doFinally(signal -> {}));
    }

    private static void works(RedisStore store, String key) {
        assertThat(check(store, key).remaining()).isEqualTo(9);
        Await.done(store.close());
    }

    @Test
    void connectsToAUri() {
        works(RedisStore.builder(server.uri()).deadline(DEADLINE).build(), "plain");

        assertThat(server.command("EXISTS", "throttlekit:plain")).isEqualTo(1L);
    }

    @Test
    void connectsAsAnAclUserToADatabase() {
        String uri = "redis://limiter:s3cret%2Fp%40ss@127.0.0.1:" + server.port() + "/3";

        works(RedisStore.builder(uri).deadline(DEADLINE).build(), "acl");

        assertThat(server.command("EXISTS", "throttlekit:acl")).isEqualTo(0L);
        assertThat(String.valueOf(server.command("INFO", "keyspace"))).contains("db3:keys=1");
    }

    @Test
    void connectsThroughAUnixSocket() {
        works(RedisStore.builder("unix://" + socket).deadline(DEADLINE).build(), "unix");

        assertThat(server.command("EXISTS", "throttlekit:unix")).isEqualTo(1L);
    }

    @Test
    void connectsThroughTls() {
        Vertx vertx = Vertx.vertx();
        RedisOptions options = new RedisOptions()
                .setConnectionString("rediss://127.0.0.1:" + tlsPort)
                .setNetClientOptions(new NetClientOptions()
                        .setSsl(true)
                        .setHostnameVerificationAlgorithm("HTTPS")
                        .setTrustOptions(new PemTrustOptions().addCertValue(Buffer.buffer(certificate))));

        works(RedisStore.builder(vertx, options).deadline(DEADLINE).build(), "tls");

        assertThat(server.command("EXISTS", "throttlekit:tls")).isEqualTo(1L);
        vertx.close();
    }

    @Test
    void trustsNoUnknownCertificate() {
        RedisStore store = RedisStore.builder("rediss://127.0.0.1:" + tlsPort)
                .deadline(DEADLINE)
                .build();

        assertThat(Await.outage(Limiter.builder(STRATEGY).store(store).build().check("untrusted"))
                        .mayHaveCharged())
                .isFalse();
        Await.done(store.close());
    }

    @Test
    void leavesAForeignVertxOpen() {
        Vertx vertx = Vertx.vertx();
        RedisOptions options = new RedisOptions().setConnectionString(server.uri());

        works(RedisStore.builder(vertx, options).deadline(DEADLINE).build(), "foreign vertx");
        works(RedisStore.builder(vertx, options).deadline(DEADLINE).build(), "foreign vertx again");

        vertx.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void usesAForeignClientAndLeavesItOpen(boolean programs) {
        Vertx vertx = Vertx.vertx();
        Redis redis = Redis.createClient(vertx, new RedisOptions().setConnectionString(server.uri()));
        int clients = Info.clients(server);
        RedisStore store = RedisStore.builder(vertx, redis)
                .deadline(DEADLINE)
                .connections(2)
                .programs(programs)
                .build();

        for (int i = 0; i < 20; i++) {
            assertThat(check(store, "foreign " + programs + i).remaining()).isEqualTo(9);
        }
        Await.done(store.close());

        Await.until("its connections are closed", () -> Info.clients(server) <= clients);
        works(RedisStore.builder(vertx, redis).deadline(DEADLINE).build(), "foreign again " + programs);
        vertx.close();
    }

    @Test
    void endsTheThreadsItStarted() {
        long before = eventLoops();
        RedisStore store = RedisStore.builder(server.uri())
                .connections(3)
                .deadline(DEADLINE)
                .build();
        IntStream.range(0, 50).forEach(i -> check(store, "threads " + i));
        assertThat(eventLoops()).isEqualTo(before + 3);

        Await.done(store.close());

        Await.until("its event loops ended", () -> eventLoops() <= before);
    }

    private static long eventLoops() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("vert.x-eventloop"))
                .count();
    }

    @Test
    void spreadsKeysOverItsConnections() {
        RedisStore store = RedisStore.builder(server.uri())
                .connections(3)
                .deadline(DEADLINE)
                .build();
        Limiter limiter = Limiter.builder(STRATEGY).store(store).build();

        long threads = IntStream.range(0, 50)
                .mapToObj(i -> Await.value(limiter.check("spread " + i)
                        .map(decision -> Thread.currentThread().getName())))
                .distinct()
                .peek(name -> assertThat(name).startsWith("vert.x-eventloop"))
                .count();

        assertThat(threads).isEqualTo(3);
        Await.done(store.close());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "localhost",
                "http://localhost",
                "redis://",
                "redis:///",
                "unix://",
                "redis://user:pass word@host",
                "redis://user:pass@localhost:99999",
                "redis://user:pass@localhost:0",
                "redis://user:pass@localhost/abc",
                "redis://user:pass@localhost/1/2",
                "rediss:nowhere"
            })
    void refusesWhatIsNoAddress(String uri) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisStore.connect(uri))
                .withMessageNotContaining("pass");
    }

    @Test
    void refusesOptionsOutOfRange() {
        RedisStore.Builder builder = RedisStore.builder("redis://localhost");

        assertThatIllegalArgumentException().isThrownBy(() -> builder.prefix("a:b"));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.prefix("{a}"));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.deadline(Duration.ZERO));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.deadline(Duration.ofDays(2)));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.connections(0));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.maxInFlight(0));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.maxRetries(-1));
    }
}
