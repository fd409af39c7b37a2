package io.throttlekit.http;

import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** What an adapter has to do with one request. */
public sealed interface Outcome {
    /**
     * The header fields to add to the response, whoever writes it.
     *
     * @return names and values, in order; unmodifiable
     */
    Map<String, String> headers();

    /**
     * The request goes on.
     *
     * @param headers what its response carries; nothing when the store was down and the fail mode let the
     *     request pass
     */
    record Pass(Map<String, String> headers) implements Outcome {
        /** Copies the headers. */
        public Pass {
            headers = inOrder(headers);
        }
    }

    /** The request ends here, with a response that is complete in itself. */
    sealed interface Refusal extends Outcome {
        /**
         * The status of the response.
         *
         * @return 429 or 503
         */
        int status();

        /**
         * The body of the response. Its media type is in the headers.
         *
         * @return the text, to be written in UTF-8
         */
        String body();
    }

    /**
     * The limit is used up: 429.
     *
     * @param headers of the whole response
     * @param body of the response
     */
    record Denied(Map<String, String> headers, String body) implements Refusal {
        /** Copies the headers. */
        public Denied {
            headers = inOrder(headers);
        }

        @Override
        public int status() {
            return 429;
        }
    }

    /**
     * The store cannot decide and the fail mode says to refuse, or the server has too much to do: 503.
     *
     * @param headers of the whole response
     * @param body of the response
     */
    record Unavailable(Map<String, String> headers, String body) implements Refusal {
        /** Copies the headers. */
        public Unavailable {
            headers = inOrder(headers);
        }

        /**
         * The answer of a server that sheds load, with {@code Retry-After} and a problem of the type
         * {@code temporary-reduced-capacity}.
         *
         * @param retryAfter more than zero; rounded up to whole seconds
         * @return a new outcome
         * @throws IllegalArgumentException if it is zero or negative
         */
        public static Unavailable overloaded(Duration retryAfter) {
            if (retryAfter.isZero() || retryAfter.isNegative()) {
                throw new IllegalArgumentException("retryAfter must be more than zero, was " + retryAfter);
            }
            long seconds = RateLimitHeaders.seconds(retryAfter);
            Fields fields = new Fields(3);
            fields.add(RateLimitHeaders.RETRY_AFTER, Long.toString(seconds));
            fields.add("Content-Type", Problem.MEDIA_TYPE);
            fields.add("Cache-Control", "no-store");
            return new Unavailable(
                    fields, Problem.temporarilyReduced("The server has as much to do as it can.", seconds));
        }

        @Override
        public int status() {
            return 503;
        }
    }

    /** A copy, unless they are our own, which nobody changes any more. */
    private static Map<String, String> inOrder(Map<String, String> headers) {
        return headers instanceof Fields ? headers : Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }
}
