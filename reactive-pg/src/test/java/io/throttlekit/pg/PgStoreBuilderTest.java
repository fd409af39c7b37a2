package io.throttlekit.pg;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.strategy.Gcra;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class PgStoreBuilderTest {
    private final PgStore.Builder builder = PgStore.builder("postgresql://nobody@127.0.0.1:1/nothing");

    @Test
    void refusesWhatIsOutOfRange() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.connections(0))
                .withMessage("connections must be from 1 to 256, was 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.deadline(Duration.ZERO))
                .withMessage("deadline must be from 1 ms to 1 h, was PT0S");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.prefix("a:b"))
                .withMessage("prefix must match [A-Za-z0-9_.-]*, was \"a:b\"");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.maxInFlight(0))
                .withMessageStartingWith("maxInFlight must be from 1");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.sweepInterval(Duration.ofMillis(-1)))
                .withMessage("sweepInterval must be zero or more, was PT-0.001S");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.sweepBatch(0))
                .withMessageStartingWith("sweepBatch must be from 1");
        assertThatIllegalArgumentException().isThrownBy(() -> PgStore.builder("mysql://localhost/nothing"));
    }

    @Test
    void keepsThePasswordOfABadAddressToItself() {
        for (String uri :
                List.of("postgresql://user:s3cret@local host/x", "postgresql://user:s3cret@localhost:abc/x")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> PgStore.connect(uri))
                    .withMessage("uri must be postgresql://user:password@host:port/database")
                    .withNoCause();
        }
    }

    @Test
    void connectsWithItsOwnVertxAndEndsIt() {
        String database = Postgres.SERVER.createDatabase();
        PgStore store = PgStore.connect(Postgres.SERVER.uri(database));
        Gcra gcra = Gcra.of(3, Duration.ofDays(1));
        Postgres.await(
                "an answer",
                () -> Boolean.TRUE.equals(store.apply("key", gcra.peek())
                        .map(decision -> true)
                        .onErrorReturn(false)
                        .block()));

        assertThat(Postgres.get(store.apply("key", gcra.check(1, 1))).remaining())
                .isEqualTo(2);

        Postgres.done(store.close());
        Postgres.done(store.close());
        assertThat(Postgres.connections(Postgres.SERVER, database)).isZero();
        assertThat(Postgres.error(store.apply("key", gcra.check(1, 1))))
                .isInstanceOfSatisfying(
                        StoreUnavailableException.class,
                        e -> assertThat(e.reason()).isEqualTo(Reason.CLOSED));
    }

    @Test
    void aServerThatIsNotThereIsDisconnected() {
        PgStore store = builder.build();

        for (int i = 0; i < 5; i++) {
            assertThat(Postgres.error(
                            store.apply("key", Gcra.of(3, Duration.ofDays(1)).check(1, 1))))
                    .isInstanceOfSatisfying(StoreUnavailableException.class, e -> {
                        assertThat(e.reason()).isEqualTo(Reason.DISCONNECTED);
                        assertThat(e.mayHaveCharged()).isFalse();
                        assertThat(e).hasCauseInstanceOf(java.io.IOException.class);
                    });
        }
        Postgres.done(store.close());
    }
}
