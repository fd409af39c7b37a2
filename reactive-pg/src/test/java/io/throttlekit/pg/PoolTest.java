package io.throttlekit.pg;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.strategy.Gcra;
import io.vertx.core.Future;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;
import io.vertx.sqlclient.Row;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A store on connections that it borrows. */
class PoolTest {
    private static <T> T get(Future<T> future) {
        return Postgres.get(Mono.fromCompletionStage(future.toCompletionStage()));
    }

    @ParameterizedTest(name = "programs: {0}")
    @ValueSource(booleans = {true, false})
    void borrowsConnectionsAndGivesThemBackAsTheyWere(boolean programs) {
        String database = Postgres.SERVER.createDatabase(
                "default_transaction_isolation = 'serializable'", "statement_timeout = 12345");
        Pool pool = PgBuilder.pool()
                .with(new PoolOptions().setMaxSize(3))
                .connectingTo(
                        PgConnectOptions.fromUri(Postgres.SERVER.uri(database)).setCachePreparedStatements(true))
                .using(Postgres.VERTX)
                .build();
        PgStore store = PgStore.builder(Postgres.VERTX, pool)
                .connections(2)
                .sweepInterval(Duration.ofMillis(50))
                .deadline(Duration.ofSeconds(10))
                .programs(programs)
                .build();
        Gcra gcra = Gcra.of(50, Duration.ofDays(1));

        List<Decision> decisions = Postgres.get(Flux.range(0, 200)
                .flatMap(i -> store.apply("key" + i % 2, gcra.check(1, 1)), 200)
                .collectList());

        assertThat(decisions.stream().filter(Decision::allowed)).hasSize(100);
        Postgres.done(store.close());
        for (int i = 0; i < 6; i++) {
            Row row = get(pool.query("SELECT current_setting('default_transaction_isolation'),"
                                    + " current_setting('statement_timeout'),"
                                    + " current_setting('idle_in_transaction_session_timeout'),"
                                    + " (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')")
                            .execute())
                    .iterator()
                    .next();
            assertThat(row.getString(0)).isEqualTo("serializable");
            assertThat(row.getString(1)).isEqualTo("12345ms");
            assertThat(row.getString(2)).isEqualTo("0");
        }
        get(pool.close().map(true));
        Postgres.await("nobody left", () -> Postgres.connections(Postgres.SERVER, database) == 0);
    }
}
