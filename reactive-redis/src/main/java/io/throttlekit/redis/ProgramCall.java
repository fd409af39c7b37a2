package io.throttlekit.redis;

import io.throttlekit.Clock;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import io.vertx.redis.client.ResponseType;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;

/**
 * Runs a program where the state lives: EVALSHA of its text with the key; the clock, or nothing for the
 * server's; the operation; the numbers.
 */
final class ProgramCall<R> extends CommandCall<R> {
    private static final byte[] ONE_KEY = {'1'};
    private static final byte[] NOTHING = {};
    /** Where the arguments are: the text, the number of keys, the key, the clock, the operation, the numbers. */
    private static final int TEXT = 0;

    private static final int KEYS = 1;
    private static final int KEY = 2;
    private static final int CLOCK = 3;
    private static final int OPERATION = 4;
    private static final int NUMBERS = 5;

    private final Prepared<R> prepared;
    private Object[] arguments = {};
    private boolean again;

    ProgramCall(Core core, Lane lane, byte[] key, CoreSubscriber<? super R> actual, Prepared<R> prepared) {
        super(core, lane, key, actual);
        this.prepared = prepared;
    }

    @Override
    void prepare() {
        Clock clock = core.clock();
        arguments = arguments(clock == null ? System.currentTimeMillis() * 1000 : clock.epochMicros());
    }

    private Object[] arguments(long clientMicros) {
        List<byte[]> numbers = prepared.numbers(clientMicros);
        Object[] all = new Object[NUMBERS + numbers.size()];
        all[TEXT] = prepared.script.sha();
        all[KEYS] = ONE_KEY;
        all[KEY] = key;
        all[CLOCK] = NOTHING;
        all[OPERATION] = prepared.operation;
        for (int i = 0; i < numbers.size(); i++) {
            all[NUMBERS + i] = numbers.get(i);
        }
        return all;
    }

    @Override
    Request request() {
        Clock clock = core.clock();
        if (clock != null) {
            arguments[CLOCK] = Prepared.digits(clock.epochMicros());
        }
        return Request.cmd(arguments[TEXT] == prepared.script.text() ? Command.EVAL : Command.EVALSHA, arguments);
    }

    @Override
    boolean sendScript() {
        if (arguments[TEXT] == prepared.script.text()) {
            return false;
        }
        arguments[TEXT] = prepared.script.text();
        return true;
    }

    @Override
    boolean read(@Nullable Response response) {
        List<Long> reply = numbers(response);
        if (reply == null) {
            lane.outOfStep(this, String.valueOf(response == null ? null : response.type()));
            return true;
        }
        R answer;
        try {
            answer = prepared.program.read(reply);
            if (answer == null && !again) {
                again = true;
                arguments = arguments(reply.get(1));
                return false;
            }
        } catch (RuntimeException e) {
            signalError(e);
            return true;
        }
        if (answer == null) {
            signalError(
                    new IllegalStateException("program " + prepared.program.name() + " asked twice for another time"));
        } else {
            signal(answer);
        }
        return true;
    }

    /** The reply's whole numbers; null when it is no list of at least two of them. */
    private static @Nullable List<Long> numbers(@Nullable Response response) {
        if (response == null || response.type() != ResponseType.MULTI || response.size() < 2) {
            return null;
        }
        Long[] numbers = new Long[response.size()];
        for (int i = 0; i < numbers.length; i++) {
            Response number = response.get(i);
            if (number == null) {
                return null;
            }
            if (number.type() == ResponseType.NUMBER && number.toNumber() instanceof Long plain) {
                numbers[i] = plain;
            } else {
                try {
                    numbers[i] = number.toLong();
                } catch (RuntimeException e) {
                    return null;
                }
            }
        }
        return Arrays.asList(numbers);
    }
}
