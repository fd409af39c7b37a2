package io.throttlekit.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.File;
import java.lang.reflect.Proxy;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

class ClientAddressTest {
    private static final String X_FORWARDED_FOR = "X-Forwarded-For";
    private static final ClientAddress BEHIND_TEN =
            ClientAddress.builder().trustProxies("10.0.0.0/8", "fd00::/8").build();

    @ParameterizedTest
    @CsvSource({
        "9.9.9.9, 9.9.9.9",
        "9.9.9.9:50001, 9.9.9.9",
        "9.9.9.9:50002, 9.9.9.9",
        "::ffff:9.9.9.9, 9.9.9.9",
        "::ffff:8.8.8.8, 8.8.8.8",
        "[::ffff:8.8.8.8]:443, 8.8.8.8",
        "2001:db8:1:2:3:4:5:6, 2001:db8:1:2::/64",
        "2001:DB8:1:2:ffff::1, 2001:db8:1:2::/64",
        "[2001:db8:1:2::1], 2001:db8:1:2::/64",
        "[2001:db8:1:2::1]:443, 2001:db8:1:2::/64",
        "fe80::1%eth0, fe80::/64",
        "[fe80::1%25eth0]:1, fe80::/64"
    })
    void readsAnAddressHoweverItIsWritten(String peer, String key) {
        String address = ClientAddress.ofPeer().of(Heads.from(peer));

        assertThat(address).isEqualTo(key);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "9.9.9.256",
                "9.9.9",
                "9.9.9.9.",
                "9.9.9.9.9",
                ".9.9.9",
                "9..9.9",
                "9.9.9.1234",
                "9.9.9.x",
                "",
                "."
            })
    void takesNoOtherTextForAnAddress(String peer) {
        assertThat(ClientAddress.ofPeer().of(Heads.from(peer))).isEqualTo("unknown");
    }

    @Test
    void takesEachIpv4AddressForItselfWithAndWithoutTrust() {
        Random random = new Random(8);
        for (int i = 0; i < 1_000; i++) {
            String peer = random.nextInt(256) + "." + random.nextInt(256) + "." + random.nextInt(256) + "."
                    + random.nextInt(256);

            assertThat(ClientAddress.ofPeer().of(Heads.from(peer))).isEqualTo(peer);
            assertThat(BEHIND_TEN.of(Heads.from(peer))).isEqualTo(peer);
        }
    }

    @Test
    void believesNoHeaderWithoutTrust() {
        Heads request =
                Heads.from("203.0.113.5").with(X_FORWARDED_FOR, "1.1.1.1").with("Forwarded", "for=1.1.1.1");

        assertThat(ClientAddress.ofPeer().of(request)).isEqualTo("203.0.113.5");
        assertThat(BEHIND_TEN.of(request)).isEqualTo("203.0.113.5");
    }

    @Test
    void givesOneKeyForAllThatAClientMakesUp() {
        assertThat(IntStream.range(0, 200))
                .map(n -> n)
                .extracting(
                        n -> BEHIND_TEN.of(Heads.from("10.0.0.1").with(X_FORWARDED_FOR, "1.1.1." + n + ", 9.9.9.9")))
                .containsOnly("9.9.9.9");
    }

    @Test
    void walksOverEveryTrustedProxyFromTheRight() {
        Heads request = Heads.from("10.0.0.1").with(X_FORWARDED_FOR, "1.1.1.1, 9.9.9.9, fd00::7,10.2.3.4:80");

        assertThat(BEHIND_TEN.of(request)).isEqualTo("9.9.9.9");
    }

    @Test
    void joinsAFieldThatWasSentTwiceInItsOrder() {
        Heads request = Heads.from("10.0.0.1").with(X_FORWARDED_FOR, "1.1.1.1, 9.9.9.9", "10.2.3.4");

        assertThat(BEHIND_TEN.of(request)).isEqualTo("9.9.9.9");
    }

    @Test
    void takesTheFarthestHopWhenAllAreTrusted() {
        Heads request = Heads.from("10.0.0.1").with(X_FORWARDED_FOR, "10.9.9.9, 10.2.3.4");

        assertThat(BEHIND_TEN.of(request)).isEqualTo("10.9.9.9");
    }

    @Test
    void takesAMappedPeerForTheProxyThatItIs() {
        Heads request = Heads.from("::ffff:10.0.0.1").with(X_FORWARDED_FOR, "9.9.9.9");

        assertThat(BEHIND_TEN.of(request)).isEqualTo("9.9.9.9");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "unknown",
                "_hidden",
                "example.org",
                "localhost",
                "1.2.3",
                "1.2.3.4.5",
                "256.1.1.1",
                "010.1.1.1.1",
                "127.1",
                "2130706433",
                "0x7f.1.1.1",
                "1.1.1.*",
                "1.1.1.1-9",
                "1.1.1.0/24",
                "9.9.9.9:",
                "9.9.9.9:x",
                "[::1",
                "::1]",
                "[]",
                ":",
                "::1::",
                "*",
                "",
                "%eth0",
                "9.9.9.9%1",
                "1.1.1.1 2.2.2.2",
                "\u0000",
                "é"
            })
    void stopsAtGarbageAndStaysWithWhoPassedItOn(String garbage) {
        Heads request = Heads.from("10.0.0.1").with(X_FORWARDED_FOR, "8.8.8.8, " + garbage + "x, 10.2.3.4");

        assertThat(BEHIND_TEN.of(request)).isEqualTo("10.2.3.4");
    }

    @Test
    void neverFailsAndNeverGivesAFreshKeyForNoise() {
        Random random = new Random(8);

        for (int i = 0; i < 20_000; i++) {
            StringBuilder noise = new StringBuilder();
            for (int at = random.nextInt(120); at > 0; at--) {
                noise.append(",;:=\"\\[]%._ *-/for0123456789abcdef\u0000é".charAt(random.nextInt(36)));
            }
            String closed = noise.append('!').toString();
            Heads request = Heads.from("10.0.0.1").with(X_FORWARDED_FOR, closed).with("Forwarded", "for=" + closed);

            assertThat(BEHIND_TEN.of(request)).as(closed).isEqualTo("10.0.0.1");
            forwarded("10.0.0.0/8").of(request);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "1, '9.9.9.9', 9.9.9.9",
        "1, '1.1.1.1, 9.9.9.9', 9.9.9.9",
        "2, '1.1.1.1, 9.9.9.9, 7.7.7.7', 9.9.9.9",
        "2, '9.9.9.9', 203.0.113.5",
        "2, 'garbage, 7.7.7.7', 203.0.113.5",
        "1, ' , ', 203.0.113.5"
    })
    void countsHopsFromTheRight(int hops, String told, String key) {
        Heads request = Heads.from("203.0.113.5").with(X_FORWARDED_FOR, told);

        assertThat(ClientAddress.builder().trustHops(hops).build().of(request)).isEqualTo(key);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            value = {
                "for=9.9.9.9 # 9.9.9.9",
                "For=\"9.9.9.9:4711\";proto=http;by=10.0.0.1 # 9.9.9.9",
                "for=1.1.1.1, by=x ; for=\"[2001:db8::1]:4711\" # 2001:db8::/64",
                "for=1.1.1.1, for=9.9.9.9;host=\"a,b;for=8.8.8.8\", for=10.1.1.1 # 9.9.9.9",
                "for=1.1.1.1, for=\"9\\.9.9.9\" # 9.9.9.9",
                "for=9.9.9.9, for=unknown # 10.0.0.1",
                "for=9.9.9.9, for=_SEVKISEK # 10.0.0.1",
                "for=9.9.9.9, proto=https # 10.0.0.1",
                "for=\"9.9.9.9 # 10.0.0.1"
            })
    void readsForwarded(String told, String key) {
        Heads request = Heads.from("10.0.0.1").with("Forwarded", told).with(X_FORWARDED_FOR, "6.6.6.6");

        assertThat(forwarded("10.0.0.0/8").of(request)).isEqualTo(key);
    }

    private static ClientAddress forwarded(String network) {
        return ClientAddress.builder()
                .field(ClientAddress.Field.FORWARDED)
                .trustProxies(network)
                .build();
    }

    @Test
    void hasAPolicyForAnUnknownPeer() {
        Heads request = Heads.from(null).with(X_FORWARDED_FOR, "9.9.9.9");

        assertThat(BEHIND_TEN.of(request)).isEqualTo("unknown");
        assertThat(ClientAddress.builder().unknownPeer("socket").build().of(request))
                .isEqualTo("socket");
        assertThat(ClientAddress.builder().unknownPeer(null).build().of(request))
                .isNull();
        assertThat(ClientAddress.builder().trustHops(1).build().of(request)).isEqualTo("9.9.9.9");
        assertThat(ClientAddress.ofPeer().of(Heads.from("app.internal"))).isEqualTo("unknown");
    }

    @Test
    void tellsIpv6AddressesApartByAsManyBitsAsItIsTold() {
        Heads one = Heads.from("2001:db8:1:2::1");

        assertThat(ClientAddress.builder().ipv6PrefixBits(128).build().of(one)).isEqualTo("2001:db8:1:2::1");
        assertThat(ClientAddress.builder().ipv6PrefixBits(48).build().of(one)).isEqualTo("2001:db8:1::/48");
    }

    @Test
    void blocksNoThreadWhenItReadsTheFirstAddressOfAProcess() throws Exception {
        URL[] classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .map(ClientAddressTest::url)
                .toArray(URL[]::new);

        try (URLClassLoader fresh = new URLClassLoader(classPath, ClassLoader.getPlatformClassLoader())) {
            Class<?> type = fresh.loadClass(ClientAddress.class.getName());
            Class<?> head = fresh.loadClass(RequestHead.class.getName());
            Object address = type.getMethod("ofPeer").invoke(null);
            Object request = Proxy.newProxyInstance(
                    fresh, new Class<?>[] {head}, (proxy, method, arguments) -> "2001:db8:1:2:3:4:5:6");
            Mono<Object> found = Mono.fromCallable(
                            () -> type.getMethod("of", head).invoke(address, request))
                    .subscribeOn(Schedulers.parallel());

            StepVerifier.create(found)
                    .expectNext("2001:db8:1:2::/64")
                    .expectComplete()
                    .verify(Duration.ofSeconds(10));
        }
    }

    private static URL url(String path) {
        try {
            return new File(path).toURI().toURL();
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException(e);
        }
    }

    @Test
    void refusesOptionsThatMeanNothing() {
        ClientAddress.Builder builder = ClientAddress.builder();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.trustHops(0))
                .withMessage("hops must be at least 1, was 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.ipv6PrefixBits(129))
                .withMessage("ipv6PrefixBits must be 1 to 128, was 129");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.trustProxies("example.org"))
                .withMessage("network must be an address or a CIDR block, was example.org");
        assertThatIllegalStateException()
                .isThrownBy(
                        () -> builder.trustHops(1).trustProxies("10.0.0.0/8").build());
    }
}
