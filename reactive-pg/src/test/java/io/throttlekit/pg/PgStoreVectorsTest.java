package io.throttlekit.pg;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Clock;
import io.throttlekit.conformance.VectorReplay;
import io.throttlekit.conformance.VectorReplay.Report;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgConnectOptions;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.test.StepVerifier;

class PgStoreVectorsTest {
    private static final VectorReplay REPLAY = VectorReplay.create().skipping(Set.of("leakyBucket"));
    private static final long OPERATIONS = 6 * 12 * 40;

    private static Vertx vertx;
    private static String database;

    @BeforeAll
    static void open() {
        vertx = Vertx.vertx();
        database = Postgres.SERVER.createDatabase();
    }

    @AfterAll
    static void close() {
        StepVerifier.create(reactor.core.publisher.Mono.fromCompletionStage(
                        vertx.close().toCompletionStage()))
                .verifyComplete();
    }

    private static PgStore store(Clock clock, boolean programs) {
        return PgStore.builder(vertx, PgConnectOptions.fromUri(Postgres.SERVER.uri(database)))
                .clock(clock)
                .connections(1)
                .deadline(Duration.ofSeconds(10))
                .programs(programs)
                .build();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void replaysAll(boolean programs) {
        StepVerifier.create(REPLAY.replayBundled(clock -> store(clock, programs)))
                .assertNext(report -> {
                    assertThat(report.differences()).isEmpty();
                    assertThat(report)
                            .extracting(Report::passed, Report::failed)
                            .containsExactly(OPERATIONS, 0L);
                })
                .verifyComplete();
    }
}
