package io.throttlekit.redis.bench;

import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.distributed.AsyncBucketProxy;
import io.github.bucket4j.distributed.ExpirationAfterWriteStrategy;
import io.github.bucket4j.distributed.proxy.AsyncProxyManager;
import io.github.bucket4j.distributed.proxy.RemoteAsyncBucketBuilder;
import io.github.bucket4j.distributed.proxy.optimization.Optimizations;
import io.github.bucket4j.redis.lettuce.Bucket4jLettuce;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.redisson.Redisson;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The other limiters that keep their state in Redis, each with a limit that is never reached. */
final class Peers implements AutoCloseable {
    private static final long LIMIT = 1_000_000_000;
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final String GATEWAY = "META-INF/scripts/request_rate_limiter.lua";

    private final RedisClient lettuce;
    private final AsyncProxyManager<String> buckets;
    private final RedisAsyncCommands<String, String> commands;
    private final String sha;
    private final RedissonClient redisson;

    Peers(String uri, int connections) throws IOException {
        this.lettuce = RedisClient.create(uri);
        this.buckets = Bucket4jLettuce.casBasedBuilder(
                        lettuce.connect(RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE)))
                .expirationAfterWrite(ExpirationAfterWriteStrategy.basedOnTimeForRefillingBucketUpToMax(SECOND))
                .build()
                .asAsync();
        this.commands = lettuce.connect().async();
        this.sha = commands.scriptLoad(gatewayScript()).toCompletableFuture().join();
        Config config = new Config();
        config.useSingleServer()
                .setAddress(uri)
                .setConnectionPoolSize(connections)
                .setConnectionMinimumIdleSize(connections);
        this.redisson = Redisson.create(config);
    }

    private static String gatewayScript() throws IOException {
        try (InputStream script = Peers.class.getClassLoader().getResourceAsStream(GATEWAY)) {
            return new String(Objects.requireNonNull(script).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    IntFunction<CompletionStage<Boolean>> bucket4j(String[] keys) {
        return bucket4j(keys, buckets.builder());
    }

    /** The option that merges what waits for one bucket into one request. */
    IntFunction<CompletionStage<Boolean>> bucket4jBatching(String[] keys) {
        return bucket4j(keys, buckets.builder().withOptimization(Optimizations.batching()));
    }

    private static IntFunction<CompletionStage<Boolean>> bucket4j(
            String[] keys, RemoteAsyncBucketBuilder<String> builder) {
        CompletableFuture<BucketConfiguration> configuration =
                CompletableFuture.completedFuture(BucketConfiguration.builder()
                        .addLimit(limit -> limit.capacity(LIMIT).refillGreedy(LIMIT, SECOND))
                        .build());
        AsyncBucketProxy[] proxies = Stream.of(keys)
                .map(key -> builder.build("bucket4j:" + key, () -> configuration))
                .toArray(AsyncBucketProxy[]::new);
        return index -> proxies[index % proxies.length].tryConsume(1);
    }

    IntFunction<CompletionStage<Boolean>> redisson(String[] keys) {
        RRateLimiter[] limiters = Stream.of(keys)
                .map(key -> redisson.getRateLimiter("redisson:" + key))
                .toArray(RRateLimiter[]::new);
        for (RRateLimiter limiter : limiters) {
            limiter.trySetRate(RateType.OVERALL, LIMIT, SECOND);
        }
        return index -> limiters[index % limiters.length].tryAcquireAsync(1);
    }

    /** The script and its arguments as the gateway sends them. */
    IntFunction<CompletionStage<Boolean>> gateway(String[] keys) {
        String limit = String.valueOf(LIMIT);
        return index -> {
            String prefix = "request_rate_limiter.{" + keys[index % keys.length] + "}.";
            CompletionStage<List<Long>> reply = commands.evalsha(
                    sha,
                    ScriptOutputType.MULTI,
                    new String[] {prefix + "tokens", prefix + "timestamp"},
                    limit,
                    limit,
                    "",
                    "1");
            return reply.thenApply(list -> list.get(0) == 1);
        };
    }

    @Override
    public void close() {
        redisson.shutdown();
        lettuce.shutdown();
    }
}
