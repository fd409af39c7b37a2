package io.throttlekit.redis;

import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;

/** Forgets a key. */
final class ResetCall extends CommandCall<Void> {
    ResetCall(Core core, Lane lane, byte[] key, CoreSubscriber<? super Void> actual) {
        super(core, lane, key, actual);
    }

    @Override
    Request request() {
        return Request.cmd(Command.UNLINK, (Object) key);
    }

    @Override
    boolean read(@Nullable Response response) {
        signal(null);
        return true;
    }
}
