package io.throttlekit.pg;

import io.vertx.core.buffer.Buffer;
import io.vertx.sqlclient.Tuple;
import org.jspecify.annotations.Nullable;

/** Forgets a key, under the lock that keeps it out of a transaction which has read the key and has yet to write. */
final class ResetWork implements Call.Work<Void> {
    private @Nullable Throwable failure;

    @Override
    public void start(Call<Void> call, Link link) {
        call.sending();
        link.say(FunctionWork.lock(link.names, call.key), locked -> {}, this::failed);
        link.query(link.names.reset(), Tuple.of(Buffer.buffer(call.key)), deleted -> {}, this::failed);
        link.say("COMMIT", done -> tell(call), cause -> {
            failed(cause);
            tell(call);
        });
    }

    private void failed(Throwable cause) {
        if (failure == null) {
            failure = cause;
        }
    }

    private void tell(Call<Void> call) {
        if (failure == null) {
            call.succeed();
        } else {
            call.fail(Faults.of(failure, call.sent()));
        }
    }
}
