package io.throttlekit.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class KeyTest {
    private static final Heads REQUEST = Heads.from("9.9.9.9").with("X-Api-Key", "secret", "other");

    @Test
    void putsSeveralKeysTogether() {
        Key<String> key = Key.together(List.of(
                Key.<String>of(request -> request), Key.header("x-api-key"), Key.address(ClientAddress.ofPeer())));

        Mono<String> text = key.of("a|b", REQUEST);

        StepVerifier.create(text).expectNext("a\\|b|secret|9.9.9.9").verifyComplete();
    }

    @Test
    void knowsWhatNoFieldIsCalled() {
        for (String name : List.of("", "X Bad", "X-Bad:", "\u00fc", "a\r\nb")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Key.header(name))
                    .withMessage("name must be the name of a header field, was \"" + name + "\"");
        }
    }

    @Test
    void hasNoKeyWhenAPartIsMissing() {
        Key<String> missing = Key.together(List.of(Key.<String>of(request -> request), Key.header("X-Tenant")));
        Key<String> empty = Key.together(List.of(Key.<String>of(request -> ""), Key.header("X-Api-Key")));

        StepVerifier.create(missing.of("a", REQUEST)).verifyComplete();
        StepVerifier.create(empty.of("a", REQUEST)).verifyComplete();
    }

    @Test
    void joinsWithoutCollisions() {
        List<String> words = new ArrayList<>(List.of(""));
        for (int length = 1, from = 0; length <= 3; length++) {
            int to = words.size();
            for (; from < to; from++) {
                for (String c : List.of("a", "|", "\\")) {
                    words.add(words.get(from) + c);
                }
            }
        }
        Map<String, List<String>> seen = new HashMap<>();

        for (String first : words) {
            assertThat(seen.put(Key.join(List.of(first)), List.of(first))).isNull();
            for (String second : words) {
                List<String> parts = List.of(first, second);
                assertThat(seen.put(Key.join(parts), parts)).as("%s", parts).isNull();
            }
        }

        assertThatIllegalArgumentException().isThrownBy(() -> Key.join(List.of()));
    }

    @Test
    void hashesAsTheStandardSays() {
        // RFC 4231, test case 1.
        byte[] secret = new byte[20];
        Arrays.fill(secret, (byte) 0x0b);

        String hash = KeyHash.hmac(secret).of("Hi There");

        assertThat(hash).isEqualTo("sDRMYdjbOFNcqK_OrwvxK4gdwgDJgz2nJuk3bC4yz_c");
    }

    @Test
    void hashesByTheSecretAndTellsNothingOfIt() {
        byte[] secret = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
        KeyHash hash = KeyHash.hmac(secret);
        KeyHash other = KeyHash.hmac("0123456789abcdeg".getBytes(StandardCharsets.US_ASCII));

        assertThat(hash.of("key")).isEqualTo(hash.of("key")).isNotEqualTo(other.of("key"));
        assertThat(hash).hasToString("KeyHash[HmacSHA256]");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> KeyHash.hmac(new byte[15]))
                .withMessage("secret must be at least 16 bytes, was 15");
    }
}
