package io.throttlekit.redis.bench;

import io.throttlekit.Program;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

/** EVALSHA on one connection of the Vert.x client, with arguments made beforehand: the least that can be done. */
final class BareLoop extends Loop {
    private final Context context;
    private final Redis redis;
    private final RedisConnection connection;
    private final byte[][] keys;
    private final Object[] words;

    BareLoop(Vertx vertx, RedisOptions options, Program<?> program, String script, String[] keys) {
        this.context = vertx.getOrCreateContext();
        this.redis = Redis.createClient(vertx, options);
        CompletableFuture<RedisConnection> opened = new CompletableFuture<>();
        context.runOnContext(v -> redis.connect().onComplete((c, e) -> {
            if (e == null) {
                opened.complete(c);
            } else {
                opened.completeExceptionally(e);
            }
        }));
        this.connection = opened.join();
        CompletableFuture<String> sha = new CompletableFuture<>();
        connection
                .send(Request.cmd(Command.SCRIPT).arg("LOAD").arg(script))
                .onSuccess(reply -> sha.complete(reply.toString()));
        String[] texts = BenchMain.words(program, sha.join());
        this.words = new Object[texts.length];
        for (int i = 0; i < words.length; i++) {
            words[i] = texts[i].getBytes(StandardCharsets.UTF_8);
        }
        this.keys = new byte[keys.length][];
        for (int i = 0; i < keys.length; i++) {
            this.keys[i] = ("bare:" + keys[i]).getBytes(StandardCharsets.UTF_8);
        }
    }

    @Override
    void onLoop(Runnable task) {
        context.runOnContext(v -> task.run());
    }

    @Override
    void send(int index, long startedNanos) {
        Object[] call = words.clone();
        call[2] = keys[index % keys.length];
        connection.send(Request.cmd(Command.EVALSHA, call)).onComplete((reply, error) -> {
            if (error == null) {
                answered(startedNanos);
            } else {
                failed(error);
            }
        });
    }

    @Override
    void close() {
        redis.close();
    }
}
