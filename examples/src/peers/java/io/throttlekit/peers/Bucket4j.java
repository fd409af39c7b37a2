package io.throttlekit.peers;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.ConsumptionProbe;
import io.github.bucket4j.distributed.AsyncBucketProxy;
import io.github.bucket4j.distributed.BucketProxy;
import io.github.bucket4j.distributed.ExpirationAfterWriteStrategy;
import io.github.bucket4j.distributed.jdbc.PrimaryKeyMapper;
import io.github.bucket4j.distributed.proxy.AsyncProxyManager;
import io.github.bucket4j.distributed.proxy.ProxyManager;
import io.github.bucket4j.postgresql.Bucket4jPostgreSQL;
import io.github.bucket4j.redis.lettuce.Bucket4jLettuce;
import io.lettuce.core.RedisClient;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.postgresql.ds.PGSimpleDataSource;

/** Bucket4j with greedy refill, which spreads units evenly over the period. */
abstract class Bucket4j implements Library {
    private static final ExpirationAfterWriteStrategy EXPIRY =
            ExpirationAfterWriteStrategy.basedOnTimeForRefillingBucketUpToMax(Duration.ofSeconds(10));

    @Override
    public Limit perPeriod(String key, long limit, Duration period) {
        return limit(
                key,
                Bandwidth.builder().capacity(limit).refillGreedy(limit, period).build());
    }

    @Override
    public Limit evenly(String key, long perSecond) {
        return limit(
                key,
                Bandwidth.builder()
                        .capacity(1)
                        .refillGreedy(perSecond, Duration.ofSeconds(1))
                        .build());
    }

    abstract Limit limit(String key, Bandwidth bandwidth);

    private static BucketConfiguration configuration(Bandwidth bandwidth) {
        return BucketConfiguration.builder().addLimit(bandwidth).build();
    }

    private static Answer answer(ConsumptionProbe probe) {
        return new Answer(probe.isConsumed(), probe.getNanosToWaitForRefill());
    }

    /** In this process, with the precision of nanoseconds. */
    public static final class Local extends Bucket4j {
        public Local(Servers servers) {}

        @Override
        public String name() {
            return "Bucket4j, local";
        }

        @Override
        Limit limit(String key, Bandwidth bandwidth) {
            Bucket bucket = Bucket.builder()
                    .addLimit(bandwidth)
                    .withNanosecondPrecision()
                    .build();
            return new Limit() {
                @Override
                public Answer ask(long cost) {
                    return answer(bucket.tryConsumeAndReturnRemaining(cost));
                }

                @Override
                public Future<?> await() {
                    return bucket.asScheduler().consume(1, Threads.TIMER);
                }
            };
        }
    }

    /** On Redis, through Lettuce. */
    public static final class OnRedis extends Bucket4j {
        private final RedisClient client;
        private final AsyncProxyManager<String> buckets;

        public OnRedis(Servers servers) {
            this.client = RedisClient.create(servers.redis());
            this.buckets = Bucket4jLettuce.casBasedBuilder(
                            client.connect(RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE)))
                    .expirationAfterWrite(EXPIRY)
                    .build()
                    .asAsync();
        }

        @Override
        public String name() {
            return "Bucket4j, Redis";
        }

        @Override
        public boolean shared() {
            return true;
        }

        @Override
        public boolean onRedis() {
            return true;
        }

        @Override
        Limit limit(String key, Bandwidth bandwidth) {
            CompletableFuture<BucketConfiguration> configuration =
                    CompletableFuture.completedFuture(configuration(bandwidth));
            AsyncBucketProxy bucket = buckets.builder().build("bucket4j:" + key, () -> configuration);
            return new Limit() {
                @Override
                public Answer ask(long cost) {
                    return answer(bucket.tryConsumeAndReturnRemaining(cost).join());
                }

                @Override
                public Future<?> await() {
                    return bucket.asScheduler().consume(1, Threads.TIMER);
                }
            };
        }

        @Override
        public void close() {
            client.shutdown();
        }
    }

    /** On PostgreSQL, with SELECT … FOR UPDATE. */
    public static final class OnPostgres extends Bucket4j {
        private final HikariDataSource pool;
        private final ProxyManager<String> buckets;

        public OnPostgres(Servers servers) throws SQLException {
            PGSimpleDataSource server = new PGSimpleDataSource();
            server.setUrl(servers.jdbc());
            server.setUser("postgres");
            HikariConfig config = new HikariConfig();
            config.setDataSource(server);
            config.setMaximumPoolSize(8);
            this.pool = new HikariDataSource(config);
            try (Connection connection = pool.getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute("CREATE TABLE IF NOT EXISTS bucket (id VARCHAR(100) PRIMARY KEY, state BYTEA,"
                        + " expires_at BIGINT)");
            }
            this.buckets = Bucket4jPostgreSQL.selectForUpdateBasedBuilder(pool)
                    .primaryKeyMapper(PrimaryKeyMapper.STRING)
                    .expirationAfterWrite(EXPIRY)
                    .build();
        }

        @Override
        public String name() {
            return "Bucket4j, PostgreSQL";
        }

        @Override
        public boolean shared() {
            return true;
        }

        @Override
        Limit limit(String key, Bandwidth bandwidth) {
            BucketConfiguration configuration = configuration(bandwidth);
            BucketProxy bucket = buckets.getProxy(key, () -> configuration);
            return new Limit() {
                @Override
                public Answer ask(long cost) {
                    return answer(bucket.tryConsumeAndReturnRemaining(cost));
                }

                @Override
                public Future<?> await() {
                    return Threads.waiting(() -> {
                        bucket.asBlocking().consume(1);
                        return true;
                    });
                }
            };
        }

        @Override
        public void close() {
            pool.close();
        }
    }
}
