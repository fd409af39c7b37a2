package io.throttlekit.pg;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.conformance.VectorReplay;
import io.throttlekit.conformance.VectorReplay.Report;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.test.StepVerifier;

class PgStoreVectorsTest {
    private static final VectorReplay REPLAY = VectorReplay.create();
    private static final long OPERATIONS = 7 * 12 * 40;

    @ParameterizedTest(name = "programs: {0}")
    @ValueSource(booleans = {true, false})
    void replaysAll(boolean programs) {
        String database = Postgres.SERVER.createDatabase();

        StepVerifier.create(REPLAY.replayBundled(clock -> Postgres.store(database)
                        .clock(clock)
                        .connections(1)
                        .programs(programs)
                        .build()))
                .assertNext(report -> {
                    assertThat(report.differences()).isEmpty();
                    assertThat(report)
                            .extracting(Report::passed, Report::failed)
                            .containsExactly(OPERATIONS, 0L);
                })
                .verifyComplete();
    }
}
