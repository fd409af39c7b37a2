package io.throttlekit.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.throttlekit.Decision;
import io.throttlekit.FailMode;
import io.throttlekit.ManualClock;
import io.throttlekit.Store;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.FixedWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class AdmissionOptionsTest {
    private static final Mono<Void> DOWN =
            Mono.error(() -> new StoreUnavailableException(Reason.TIMEOUT, true, "no answer in 250 ms", null));
    private static final Heads PREFLIGHT = Heads.from(null)
            .method("OPTIONS")
            .with("Origin", "https://example.org")
            .with("Access-Control-Request-Method", "PUT");

    private final MemoryStore memory =
            MemoryStore.builder().clock(ManualClock.at(1_700_000_000_000_000L)).build();
    private final Limiter limiter = over(memory);

    private static Limiter over(Store store) {
        return Limiter.builder(FixedWindow.of(4, Duration.ofSeconds(10)))
                .store(store)
                .build();
    }

    private Admission.Builder<String> builder() {
        return Admission.<String>builder(limiter).key(request -> request).failMode(FailMode.CLOSED);
    }

    private long left(String key) {
        return limiter.peekSync(key).remaining();
    }

    private static Outcome admitted(Admission.Builder<String> admission, String request, RequestHead head) {
        return admission.build().admit(request, head).blockOptional().orElseThrow();
    }

    @Test
    void letsPreflightsAndSkippedRequestsPassFree() {
        Heads options = Heads.from(null).method("OPTIONS").with("Origin", "https://example.org");

        Outcome preflight = admitted(builder(), "a", PREFLIGHT);
        Outcome skipped = admitted(builder().skip(request -> request.equals("health")), "health", options);

        assertThat(preflight).isEqualTo(new Outcome.Pass(Map.of()));
        assertThat(skipped.headers()).isEmpty();
        assertThat(left("a")).isEqualTo(4);
        assertThat(left("health")).isEqualTo(4);
    }

    @Test
    void countsPreflightsWhenToldToAndOtherOptionsAlways() {
        Heads options = Heads.from(null).method("OPTIONS").with("Origin", "https://example.org");

        admitted(builder().limitPreflight(true), "a", PREFLIGHT);
        admitted(builder(), "a", options);

        assertThat(left("a")).isEqualTo(2);
    }

    @Test
    void takesAsManyUnitsAsARequestCosts() {
        admitted(builder().cost(String::length), "abc", PREFLIGHT.method("GET"));
        admitted(builder().costMono(request -> Mono.just(2L).hide()), "de", PREFLIGHT.method("GET"));

        assertThat(left("abc")).isEqualTo(1);
        assertThat(left("de")).isEqualTo(2);
    }

    @Test
    void hasNoRetryAfterForACostAboveTheLimit() {
        Outcome outcome = admitted(builder().cost(request -> 5), "a", Heads.from(null));

        assertThat(outcome).isInstanceOfSatisfying(Outcome.Denied.class, denied -> {
            assertThat(denied.headers()).doesNotContainKey("Retry-After");
            assertThat(denied.body()).doesNotContain("retryAfterSeconds");
        });
    }

    @Test
    void takesABadCostForAnError() {
        StepVerifier.create(builder().cost(request -> 0).build().admit("a"))
                .verifyError(IllegalArgumentException.class);
        StepVerifier.create(builder().costMono(request -> Mono.empty()).build().admit("a"))
                .verifyErrorMessage("the cost function gave no cost");
        StepVerifier.withVirtualTime(() -> builder()
                        .costMono(request -> Mono.never())
                        .keyTimeout(Duration.ofSeconds(3))
                        .build()
                        .admit("a"))
                .thenAwait(Duration.ofSeconds(3))
                .verifyErrorMessage("the cost function gave no cost within PT3S");
    }

    @Test
    void hasAPolicyForEachWayInWhichAKeyIsMissing() {
        Admission.Builder<String> builder = builder()
                .onMissingKey(MissingKey.shared("nobody"))
                .onKeyError(MissingKey.unlimited())
                .onKeyTimeout(MissingKey.shared("late"));

        Outcome none = admitted(builder.key(request -> null), "a", Heads.from(null));
        Outcome empty = admitted(builder.keyMono(request -> Mono.just("").hide()), "a", Heads.from(null));
        Outcome faulty = admitted(
                builder.key(request -> {
                    throw new IllegalStateException("a bug in the key");
                }),
                "a",
                Heads.from(null));
        Outcome failed = admitted(
                builder.keyMono(request -> Mono.<String>error(new IllegalStateException("no session"))
                        .hide()),
                "a",
                Heads.from(null));

        assertThat(List.of(none, empty)).noneMatch(outcome -> outcome.headers().isEmpty());
        assertThat(left("nobody")).isEqualTo(2);
        assertThat(List.of(faulty, failed))
                .allMatch(outcome -> outcome.headers().isEmpty());
        StepVerifier.withVirtualTime(
                        () -> builder.keyMono(request -> Mono.never()).build().admit("a"))
                .thenAwait(Duration.ofSeconds(1))
                .expectNextCount(1)
                .verifyComplete();
        assertThat(left("late")).isEqualTo(3);
    }

    @Test
    void hasTheSamePoliciesForAKeyThatIsAskedForAndMissingAtOnce() {
        Admission.Builder<String> builder =
                builder().onMissingKey(MissingKey.shared("nobody")).onKeyError(MissingKey.unlimited());

        Outcome none = admitted(builder.keyMono(request -> Mono.empty()), "a", Heads.from(null));
        Outcome failed = admitted(
                builder.keyMono(request -> Mono.error(new IllegalStateException("no session"))), "a", Heads.from(null));
        Outcome faulty = admitted(
                builder.keyMono(request -> {
                    throw new IllegalStateException("a bug in the key");
                }),
                "a",
                Heads.from(null));

        assertThat(none.headers()).isNotEmpty();
        assertThat(left("nobody")).isEqualTo(3);
        assertThat(List.of(failed, faulty))
                .allMatch(outcome -> outcome.headers().isEmpty());
    }

    @Test
    void hashesKeysBeforeTheStoreSeesThem() {
        KeyHash hash = KeyHash.hmac(new byte[32]);

        admitted(builder().hashKeys(hash), "secret", Heads.from(null));

        assertThat(left("secret")).isEqualTo(4);
        assertThat(left(hash.of("secret"))).isEqualTo(3);
    }

    @Test
    void writesTheBodyAndTheHeadersItIsTold() {
        Admission.Builder<String> builder = builder()
                .cost(request -> 5)
                .headers(RateLimitHeaders.of())
                .body((refusal, request) -> new RefusalBody.Entity("text/x-own", refusal.status() + " für alle"));

        Outcome outcome = admitted(builder, "a", Heads.from(null));

        assertThat(outcome).isInstanceOfSatisfying(Outcome.Denied.class, denied -> {
            assertThat(denied.body()).isEqualTo("429 für alle");
            assertThat(denied.headers())
                    .containsOnly(Map.entry("Content-Type", "text/x-own"), Map.entry("Cache-Control", "no-store"));
        });
    }

    @Test
    void countsWithMicrometerAndNeverByKey() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        Admission.Builder<String> up =
                builder().policy("four").cost(request -> 3).listener(MeteredDecisions.of(registry));
        Admission.Builder<String> down = Admission.<String>builder(over(new GatedStore(memory, DOWN)))
                .policy("down")
                .key(request -> request)
                .listener(MeteredDecisions.of(registry));

        admitted(up, "a", Heads.from(null));
        admitted(up, "a", Heads.from(null));
        admitted(up.dryRun(true), "a", Heads.from(null));
        admitted(down.failMode(FailMode.OPEN), "a", Heads.from(null));
        admitted(down.failMode(FailMode.CLOSED), "a", Heads.from(null));

        assertThat(decisions(registry, "four", "allowed")).isEqualTo(1);
        assertThat(decisions(registry, "four", "denied")).isEqualTo(1);
        assertThat(decisions(registry, "four", "denied_dry_run")).isEqualTo(1);
        assertThat(decisions(registry, "down", "failed_open")).isEqualTo(1);
        assertThat(decisions(registry, "down", "failed_closed")).isEqualTo(1);
        assertThat(registry.get("throttlekit.store.latency")
                        .tag("limiter", "four")
                        .timer()
                        .count())
                .isEqualTo(3);
        assertThat(registry.get("throttlekit.store.errors")
                        .tags("limiter", "down", "reason", "timeout")
                        .counter()
                        .count())
                .isEqualTo(2);
        assertThat(registry.getMeters())
                .flatExtracting(meter -> meter.getId().getTags())
                .extracting(tag -> tag.getValue())
                .doesNotContain("a");
    }

    private static double decisions(SimpleMeterRegistry registry, String limiter, String outcome) {
        return registry.get("throttlekit.decisions")
                .tags("limiter", limiter, "outcome", outcome)
                .counter()
                .count();
    }

    @Test
    void doesNotLetAListenerSpoilARequest() {
        DecisionListener faulty = new DecisionListener() {
            @Override
            public void decided(String policy, Decision decision, boolean enforced, Duration latency) {
                throw new IllegalStateException("a bug in the listener");
            }
        };

        Outcome outcome = admitted(builder().listener(faulty), "a", Heads.from(null));

        assertThat(outcome).isInstanceOf(Outcome.Pass.class);
    }

    @Test
    void logsFailuresOncePerInterval() {
        AtomicLong nanos = new AtomicLong();
        List<String> lines = new ArrayList<>();
        Failures failures = new Failures("limit x", nanos::get, lines::add);

        for (int i = 0; i < 1000; i++) {
            failures.add(new IllegalStateException("down"));
        }
        nanos.addAndGet(Failures.INTERVAL.toNanos());
        failures.add(new IllegalStateException("still down"));

        assertThat(lines)
                .containsExactly(
                        "limit x: 1 request(s), the last one for java.lang.IllegalStateException: down",
                        "limit x: 1000 request(s), the last one for java.lang.IllegalStateException: still down");
    }
}
