package io.throttlekit.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.http.RefusalBody.Entity;
import io.throttlekit.http.RefusalBody.Refusal;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RefusalBodyTest {
    private static final Refusal REFUSAL = new Refusal(429, List.of("a\"b", "c"), OptionalLong.of(3));

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            value = {
                "*/* # application/problem+json",
                "application/json # application/problem+json",
                "application/problem+json, text/plain # application/problem+json",
                "text/plain # text/plain;charset=utf-8",
                "TEXT/PLAIN;q=0.5 , */*;q=0.1 # text/plain;charset=utf-8",
                "text/* # text/plain;charset=utf-8",
                "text/html, */*;q=0.8 # application/problem+json",
                "text/plain;q=0.4, application/json;q=0.9 # application/problem+json",
                "text/plain, application/problem+json;q=0 # text/plain;charset=utf-8",
                "text/plain;q=0 # application/problem+json",
                "text/plain;q=NaN # application/problem+json",
                "text/plain;q=x # application/problem+json",
                "image/png # application/problem+json",
                ";;,,= # application/problem+json"
            })
    void choosesByAccept(String accept, String mediaType) {
        Heads request = Heads.from(null).with("Accept", accept);

        Entity entity = RefusalBody.negotiated().write(REFUSAL, request);

        assertThat(entity.mediaType()).isEqualTo(mediaType);
    }

    @Test
    void saysTheSameInBoth() {
        Entity problem = RefusalBody.negotiated().write(REFUSAL, Heads.from(null));
        Entity plain = RefusalBody.negotiated().write(REFUSAL, Heads.from(null).with("Accept", "text/plain"));

        assertThat(problem.text())
                .contains("\"detail\":\"The limit is used up. Try again in 3 s.\"")
                .contains("\"violated-policies\":[\"a\\\"b\",\"c\"],\"retryAfterSeconds\":3");
        assertThat(plain.text()).isEqualTo("The limit is used up. Try again in 3 s.\n");
    }
}
