package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class StoredKeysTest {
    private final StoredKeys keys = new StoredKeys("throttlekit");

    private String stored(String key) {
        return new String(keys.of(key), StandardCharsets.UTF_8);
    }

    @Test
    void joinsPrefixAndKey() {
        assertThat(stored("user:42")).isEqualTo("throttlekit:user:42");
        assertThat(stored("")).isEqualTo("throttlekit:");
        assertThat(stored("a\u00e9\u20ac\uD83D\uDE00")).isEqualTo("throttlekit:a\u00e9\u20ac\uD83D\uDE00");
    }

    @Test
    void encodesWhatCouldChooseASlot() {
        assertThat(stored("{a}")).isEqualTo("throttlekit:%7Ba%7D");
        assertThat(stored("%7Ba%7D")).isEqualTo("throttlekit:%257Ba%257D");
    }

    @Test
    void leavesKeysBareUnderAnEmptyPrefix() {
        assertThat(new String(new StoredKeys("").of("user{1}"), StandardCharsets.UTF_8))
                .isEqualTo("user%7B1%7D");
    }

    @Test
    void hashesWhatIsTooLong() {
        String longest = "x".repeat(StoredKeys.MAX_BYTES - "throttlekit:".length());

        assertThat(stored(longest)).isEqualTo("throttlekit:" + longest);
        assertThat(stored(longest + "x")).matches("throttlekit:%h[0-9a-f]{64}");
        assertThat(stored(longest + "x")).isNotEqualTo(stored(longest + "y"));
        assertThat(stored("%h" + stored(longest + "x").substring("throttlekit:%h".length())))
                .as("a key that looks like a hash")
                .startsWith("throttlekit:%25h");
    }

    @Test
    void keepsKeysApart() {
        String[] parts = {"a", "{", "}", "%", "7B", "25", ":", "?", "\uFFFD", "\uD83D", "\uDE00", "\u00e9", "\0", "h"};
        Random random = new Random(7);
        Map<ByteBuffer, String> seen = new HashMap<>();

        for (int i = 0; i < 100_000; i++) {
            StringBuilder key = new StringBuilder();
            for (int length = random.nextInt(6); length > 0; length--) {
                key.append(parts[random.nextInt(parts.length)]);
            }
            String before = seen.putIfAbsent(ByteBuffer.wrap(keys.of(key.toString())), key.toString());
            assertThat(before).isIn(null, key.toString());
        }
    }
}
