package io.throttlekit;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A transform written for stores that run code where the state lives, in one round trip.
 *
 * <p>A program compares, adds, stores and reports a few whole numbers; the answer is always built from
 * them by the same Java that serves the function path. The store supplies the key and the clock: the
 * program uses {@code now} as given when the store has a clock of its own, else the server's time.
 *
 * @param <R> the answer
 */
public interface Program<R> {
    /**
     * Which program this is; one text per name and dialect.
     *
     * @return a short constant such as {@code gcra}, {@code [a-z][a-z_]*}
     */
    String name();

    /**
     * The program's text.
     *
     * @param dialect the language
     * @return the text, or null when it is not written in that language
     */
    @Nullable
    String text(Dialect dialect);

    /**
     * What the program is to do, its first argument.
     *
     * @return a word that the text knows, such as {@code check}
     */
    String operation();

    /**
     * The numbers the program needs, its further arguments.
     *
     * @param clientMicros the time to compute them for: the client's clock at first, the server's when
     *     {@link #read} asked for another call
     * @return whole numbers, each at most 2<sup>53</sup> in size unless the text says otherwise
     */
    List<Long> args(long clientMicros);

    /**
     * The same call in fewer numbers, where it is one that the text has a shorter way for; its reply is the same.
     *
     * @return three whole numbers that the text documents; or none, as by default
     */
    default List<Long> usual() {
        return List.of();
    }

    /**
     * Builds the answer.
     *
     * @param reply what the program returned: {@code granted}, {@code now} in epoch microseconds, then what
     *     the text documents
     * @return the answer; or null when the program changed nothing since the arguments were computed for
     *     another time than its own: then {@link #args} is to be asked again for {@code reply.get(1)} and the
     *     program called once more
     */
    @Nullable
    R read(List<Long> reply);
}
