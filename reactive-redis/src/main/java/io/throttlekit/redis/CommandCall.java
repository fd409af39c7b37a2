package io.throttlekit.redis;

import io.vertx.core.Completable;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;

/** A call that is one command, or one after the other, on the lane's pipelined connection. */
abstract class CommandCall<R> extends Call<R> implements Completable<Response> {
    /** The connection that it was written to last. */
    @Nullable
    Wire wire;

    /** It was refused by a server that became a replica; once is a reason to look for the new master. */
    boolean redirected;

    CommandCall(Core core, Lane lane, byte[] key, CoreSubscriber<? super R> actual) {
        super(core, lane, key, actual);
    }

    /** The command as it is to be sent now. */
    abstract Request request();

    /** Reads the reply and signals; false if the command has to be sent again, with other arguments. */
    abstract boolean read(@Nullable Response response);

    /** Redis did not know the script; false if that cannot be. */
    boolean sendScript() {
        return false;
    }

    @Override
    public final void complete(@Nullable Response response, @Nullable Throwable failure) {
        lane.answered(this, response, failure);
    }
}
