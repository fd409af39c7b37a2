package io.throttlekit.pg;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class KeysTest {
    private static final Keys KEYS = new Keys("p");

    private static String stored(String key) {
        return new String(KEYS.bytes(key), StandardCharsets.ISO_8859_1);
    }

    @Test
    void isUtf8WhereThatExists() {
        for (String key : new String[] {"", "a", "a b:{}%\n\0", "é", "漢", "\uD83D\uDE00", "x".repeat(510)}) {
            assertThat(KEYS.bytes(key)).isEqualTo(("p:" + key).getBytes(StandardCharsets.UTF_8));
        }
        assertThat(new Keys("").bytes("a")).containsExactly('a');
    }

    @Test
    void halvesOfPairsAreNoQuestionMarks() {
        assertThat(stored("\uD83D")).isEqualTo("p:\u00ED\u00A0\u00BD");
        assertThat(stored("\uDE00")).isEqualTo("p:\u00ED\u00B8\u0080");
        assertThat(Set.of(stored("?"), stored("\uD83D"), stored("\uDE00"), stored("\uDE00\uD83D")))
                .hasSize(4);
    }

    @Test
    void differentStringsAreDifferentBytes() {
        Random random = new Random(11);
        char[] alphabet = {'a', ':', '?', '\0', '\u00ff', '\u0800', '\uD83D', '\uDE00', '\uFFFD'};
        Set<String> strings = new HashSet<>();
        Set<String> bytes = new HashSet<>();
        for (int i = 0; i < 20_000; i++) {
            char[] chars = new char[random.nextInt(7)];
            for (int j = 0; j < chars.length; j++) {
                chars[j] = alphabet[random.nextInt(alphabet.length)];
            }
            strings.add(new String(chars));
            bytes.add(stored(new String(chars)));
        }

        assertThat(bytes).hasSameSizeAs(strings);
    }

    @Test
    void longKeysAreShortAndApart() {
        byte[] one = KEYS.bytes("x".repeat(511));
        byte[] two = KEYS.bytes("x".repeat(10_000));

        assertThat(one).hasSize(2 + 1 + 32);
        assertThat(one[2]).isEqualTo((byte) 0xFF);
        assertThat(two).hasSize(2 + 1 + 32);
        assertThat(Arrays.equals(one, two)).isFalse();
    }
}
