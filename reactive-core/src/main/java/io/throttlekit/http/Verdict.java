package io.throttlekit.http;

import io.throttlekit.Decision;
import io.throttlekit.limiter.Limiter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** What became of a request at one {@link Gate}: a decision, or none because the store had none. */
record Verdict(Gate<?> gate, Limiter limiter, String key, RateLimitHeaders.@Nullable Report report) {
    static Verdict decided(
            Gate<?> gate, Limiter limiter, String key, RateLimitHeaders.Policy policy, Decision decision) {
        return new Verdict(gate, limiter, key, new RateLimitHeaders.Report(policy, decision));
    }

    static Verdict undecided(Gate<?> gate, Limiter limiter, String key) {
        return new Verdict(gate, limiter, key, null);
    }

    /** At most one. A dry run is not told: a client cannot be asked to keep to a limit that is not in force. */
    List<RateLimitHeaders.Report> told() {
        return report == null || gate.dryRun() ? List.of() : List.of(report);
    }

    /** Gives back what was taken. That this fails makes the answer no other. */
    Mono<Void> giveBack(Failures failures) {
        Decision charged = report == null ? null : report.decision();
        if (charged == null || charged.granted() == 0) {
            return Mono.empty();
        }
        return Mono.defer(() -> limiter.refund(key, charged.granted(), charged))
                .onErrorResume(error -> {
                    if (!(error instanceof UnsupportedOperationException)) {
                        failures.add(error);
                    }
                    return Mono.empty();
                })
                .then();
    }

    /** The same after its units went back, for the headers. */
    Verdict givenBack() {
        if (report == null || report.decision().granted() == 0) {
            return this;
        }
        Decision charged = report.decision();
        long remaining = Math.min(charged.limit(), charged.remaining() + charged.granted());
        Decision after = Decision.allowed(0, charged.limit(), remaining, charged.resetAtMs(), charged.decidedAtMs());
        return decided(gate, limiter, key, report.policy(), after);
    }
}
