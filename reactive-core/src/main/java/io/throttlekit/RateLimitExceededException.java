package io.throttlekit;

import java.util.Objects;

/** A denial, from an operator that turns denials into errors. It has no stack trace. */
public final class RateLimitExceededException extends ThrottleKitException {
    private static final long serialVersionUID = 1L;

    private final transient Decision decision;

    /**
     * A denial.
     *
     * @param decision the denial
     */
    public RateLimitExceededException(Decision decision) {
        super(
                decision.exceedsLimit()
                        ? "rate limit exceeded: the cost is above the limit of " + decision.limit()
                        : "rate limit exceeded: retry after " + decision.retryAfterMs() + " ms");
        this.decision = Objects.requireNonNull(decision, "decision");
    }

    /**
     * The denial.
     *
     * @return a decision that is not allowed
     */
    public Decision decision() {
        return decision;
    }
}
