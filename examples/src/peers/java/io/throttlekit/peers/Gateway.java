package io.throttlekit.peers;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * The script of Spring Cloud Gateway's RedisRateLimiter, with its keys and arguments, sent as Spring sends it: by its
 * digest, and whole when the server does not know it.
 */
public final class Gateway implements Library {
    private static final String SCRIPT = "META-INF/scripts/request_rate_limiter.lua";

    private final RedisClient client;
    private final RedisCommands<String, String> commands;
    private final String script;
    private final String digest;

    public Gateway(Servers servers) throws IOException {
        this.client = RedisClient.create(servers.redis());
        this.commands = client.connect().sync();
        try (InputStream text = Gateway.class.getClassLoader().getResourceAsStream(SCRIPT)) {
            this.script = new String(Objects.requireNonNull(text).readAllBytes(), StandardCharsets.UTF_8);
        }
        this.digest = commands.digest(script);
    }

    @Override
    public String name() {
        return "Spring Cloud Gateway's script";
    }

    @Override
    public boolean shared() {
        return true;
    }

    @Override
    public boolean onRedis() {
        return true;
    }

    /** Its rate is per second; for longer periods its documentation has each request take the period's seconds. */
    @Override
    public Limit perPeriod(String key, long limit, Duration period) {
        long seconds = period.toSeconds();
        if (seconds < 1 || !period.equals(Duration.ofSeconds(seconds))) {
            throw new NotApplicable("its rate is per second");
        }
        return limit(key, limit, limit * seconds, seconds);
    }

    @Override
    public Limit evenly(String key, long perSecond) {
        return limit(key, perSecond, 1, 1);
    }

    @Override
    public Limit waiting(String key, Duration interval) {
        throw new NotApplicable("it has no way to wait for a unit");
    }

    private Limit limit(String key, long replenishRate, long burstCapacity, long requestedTokens) {
        String[] keys = {"request_rate_limiter.{" + key + "}.tokens", "request_rate_limiter.{" + key + "}.timestamp"};
        String rate = String.valueOf(replenishRate);
        String capacity = String.valueOf(burstCapacity);
        return cost -> {
            String requested = String.valueOf(cost * requestedTokens);
            List<Long> reply;
            try {
                reply = commands.evalsha(digest, ScriptOutputType.MULTI, keys, rate, capacity, "", requested);
            } catch (RedisNoScriptException e) {
                reply = commands.eval(script, ScriptOutputType.MULTI, keys, rate, capacity, "", requested);
            }
            return Answer.of(reply.get(0) == 1);
        };
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
