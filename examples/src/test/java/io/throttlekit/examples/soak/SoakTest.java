package io.throttlekit.examples.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class SoakTest {
    @Test
    void nothingIsWrongAfterTwentySeconds() {
        assertThat(new Soak(Duration.ofSeconds(20), 1, System.err).run()).isEmpty();
    }
}
