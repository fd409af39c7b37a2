package io.throttlekit.bench.pg;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.distributed.ExpirationAfterWriteStrategy;
import io.github.bucket4j.distributed.jdbc.PrimaryKeyMapper;
import io.github.bucket4j.distributed.proxy.ProxyManager;
import io.github.bucket4j.postgresql.Bucket4jPostgreSQL;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.sql.DataSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Bucket4j over JDBC, in both its ways to lock a bucket. It blocks, so it has a thread for each connection of its
 * pool; more threads would only wait for a connection.
 */
final class Bucket4jPg implements AutoCloseable {
    private final HikariDataSource pool;
    private final ExecutorService threads;
    private final Scheduler scheduler;
    private final ProxyManager<String> forUpdate;
    private final ProxyManager<Long> advisory;
    private final BucketConfiguration allowing = configuration(1_000_000, Duration.ofSeconds(1));
    private final BucketConfiguration denying = configuration(1, Duration.ofDays(365));

    Bucket4jPg(String jdbcUrl, int connections) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(jdbcUrl);
        config.setUsername("postgres");
        config.setMaximumPoolSize(connections);
        this.pool = new HikariDataSource(config);
        this.threads = Executors.newFixedThreadPool(connections);
        this.scheduler = Schedulers.fromExecutorService(threads);
        createTable(pool, "bucket_for_update", "VARCHAR(100)");
        createTable(pool, "bucket_advisory", "BIGINT");
        ExpirationAfterWriteStrategy expiry =
                ExpirationAfterWriteStrategy.basedOnTimeForRefillingBucketUpToMax(Duration.ofSeconds(10));
        this.forUpdate = Bucket4jPostgreSQL.selectForUpdateBasedBuilder(pool)
                .primaryKeyMapper(PrimaryKeyMapper.STRING)
                .table("bucket_for_update")
                .expirationAfterWrite(expiry)
                .build();
        this.advisory = Bucket4jPostgreSQL.advisoryLockBasedBuilder(pool)
                .table("bucket_advisory")
                .expirationAfterWrite(expiry)
                .build();
    }

    /** The table of its documentation, for either way. */
    private static void createTable(DataSource pool, String name, String keyType) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE IF NOT EXISTS " + name + " (id " + keyType
                    + " PRIMARY KEY, state BYTEA, expires_at BIGINT, explicit_lock BIGINT)");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static BucketConfiguration configuration(long limit, Duration period) {
        return BucketConfiguration.builder()
                .addLimit(l -> l.capacity(limit).refillGreedy(limit, period))
                .build();
    }

    /** Locks the row. */
    Mono<Boolean> forUpdate(String key, boolean allow) {
        return on(
                () -> forUpdate.getProxy(key, () -> allow ? allowing : denying).tryConsume(1));
    }

    /** Locks the number of the key. */
    Mono<Boolean> advisory(String key, boolean allow) {
        long number = key.hashCode();
        return on(() ->
                advisory.getProxy(number, () -> allow ? allowing : denying).tryConsume(1));
    }

    private Mono<Boolean> on(Callable<Boolean> call) {
        return Mono.fromCallable(call).subscribeOn(scheduler);
    }

    @Override
    public void close() {
        scheduler.dispose();
        threads.shutdown();
        pool.close();
    }
}
