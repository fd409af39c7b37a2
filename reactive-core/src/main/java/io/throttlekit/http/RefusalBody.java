package io.throttlekit.http;

import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;

/**
 * Writes the body of a refusal. {@link #negotiated()} is the default.
 *
 * <p>It runs for each refused request, on the thread of the check, and must not block.
 */
@FunctionalInterface
public interface RefusalBody {
    /**
     * The body.
     *
     * @param refusal what the client is to be told
     * @param request what is known of the request
     * @return the body and its media type
     */
    Entity write(Refusal refusal, RequestHead request);

    /**
     * RFC 9457 problem details, or plain text for a client whose {@code Accept} likes that better. JSON is what
     * a client gets that accepts neither, as RFC 9110 allows for errors.
     *
     * @return the default
     */
    static RefusalBody negotiated() {
        return (refusal, request) -> PlainOrProblem.prefersPlain(request.fields("Accept"))
                ? new Entity(PlainOrProblem.PLAIN, Problem.text(refusal))
                : new Entity(Problem.MEDIA_TYPE, Problem.json(refusal));
    }

    /**
     * What a refused client is told.
     *
     * @param status 429 or 503
     * @param violatedPolicies the names of the limits that denied; empty for 503
     * @param retryAfterSeconds when to try again; empty when that is no use
     */
    record Refusal(int status, List<String> violatedPolicies, OptionalLong retryAfterSeconds) {
        /** Copies the names. */
        public Refusal {
            violatedPolicies = List.copyOf(violatedPolicies);
            Objects.requireNonNull(retryAfterSeconds, "retryAfterSeconds");
        }
    }

    /**
     * A body.
     *
     * @param mediaType the {@code Content-Type}
     * @param text written in UTF-8
     */
    record Entity(String mediaType, String text) {
        /** Checks that both are there. */
        public Entity {
            Objects.requireNonNull(mediaType, "mediaType");
            Objects.requireNonNull(text, "text");
        }
    }
}
