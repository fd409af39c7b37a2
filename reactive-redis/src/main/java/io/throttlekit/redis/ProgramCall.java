package io.throttlekit.redis;

import io.throttlekit.Clock;
import io.throttlekit.Program;
import io.throttlekit.redis.Scripts.Script;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import io.vertx.redis.client.ResponseType;
import java.nio.charset.StandardCharsets;
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

    private final Program<R> program;
    private final Script script;
    private Object[] arguments = {};
    private boolean again;

    ProgramCall(Core core, Lane lane, byte[] key, CoreSubscriber<? super R> actual, Program<R> program, Script script) {
        super(core, lane, key, actual);
        this.program = program;
        this.script = script;
    }

    @Override
    void prepare() {
        Clock clock = core.clock();
        arguments = arguments(clock == null ? System.currentTimeMillis() * 1000 : clock.epochMicros());
    }

    private Object[] arguments(long clientMicros) {
        List<Long> numbers = program.args(clientMicros);
        Object[] all = new Object[NUMBERS + numbers.size()];
        all[TEXT] = script.sha();
        all[KEYS] = ONE_KEY;
        all[KEY] = key;
        all[CLOCK] = NOTHING;
        all[OPERATION] = program.operation().getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i < numbers.size(); i++) {
            all[NUMBERS + i] = digits(numbers.get(i));
        }
        return all;
    }

    private static byte[] digits(long number) {
        return Long.toString(number).getBytes(StandardCharsets.ISO_8859_1);
    }

    @Override
    Request request() {
        Clock clock = core.clock();
        if (clock != null) {
            arguments[CLOCK] = digits(clock.epochMicros());
        }
        return Request.cmd(arguments[TEXT] == script.text() ? Command.EVAL : Command.EVALSHA, arguments);
    }

    @Override
    boolean sendScript() {
        if (arguments[TEXT] == script.text()) {
            return false;
        }
        arguments[TEXT] = script.text();
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
            answer = program.read(reply);
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
            signalError(new IllegalStateException("program " + program.name() + " asked twice for another time"));
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
            try {
                numbers[i] = number.toLong();
            } catch (RuntimeException e) {
                return null;
            }
        }
        return Arrays.asList(numbers);
    }
}
