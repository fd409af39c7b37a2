package io.throttlekit.webflux.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says why the fail mode has no default, and what to write. */
final class MissingFailModeAnalyzer extends AbstractFailureAnalyzer<MissingFailModeException> {
    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, MissingFailModeException cause) {
        return new FailureAnalysis(
                "throttlekit.fail-mode is missing. It says what becomes of requests while the store of the limits"
                        + " cannot decide, and neither answer is right for everyone: 'open' lets an outage of the"
                        + " store through to what the limits protect, 'closed' turns it into an outage of this"
                        + " application.",
                "Set throttlekit.fail-mode=open or throttlekit.fail-mode=closed, or throttlekit.enabled=false to"
                        + " have no limits. Limits of your own take the place of these if their bean is declared as a"
                        + " RateLimitWebFilter, not as a WebFilter.",
                cause);
    }
}
