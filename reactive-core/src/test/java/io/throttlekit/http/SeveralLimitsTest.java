package io.throttlekit.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.throttlekit.FailMode;
import io.throttlekit.ManualClock;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.Strategy;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class SeveralLimitsTest {
    private static final Mono<Void> DOWN =
            Mono.error(() -> new StoreUnavailableException(Reason.TIMEOUT, true, "no answer in 250 ms", null));

    private final MemoryStore memory =
            MemoryStore.builder().clock(ManualClock.at(1_700_000_000_000_000L)).build();
    private final Limiter wide = limiter("wide", Gcra.of(10, Duration.ofSeconds(10)));
    private final Limiter narrow = limiter("narrow", FixedWindow.of(1, Duration.ofSeconds(10)));
    private final Limiter broken = Limiter.builder(FixedWindow.of(1, Duration.ofSeconds(10)))
            .store(new GatedStore(memory, DOWN))
            .prefix("broken")
            .build();

    private Limiter limiter(String prefix, Strategy<?> strategy) {
        return Limiter.builder(strategy).store(memory).prefix(prefix).build();
    }

    private Admission.Builder<String> both() {
        return Admission.<String>builder(wide)
                .policy("wide")
                .key(request -> request)
                .and(narrow)
                .policy("narrow")
                .key(request -> request)
                .failMode(FailMode.CLOSED);
    }

    @Test
    void passesWhenAllAllowAndListsThemAll() {
        Outcome outcome = admitted(both(), "a");

        assertThat(outcome).isInstanceOf(Outcome.Pass.class);
        assertThat(outcome.headers())
                .containsEntry("RateLimit-Policy", "\"wide\";q=10;w=10, \"narrow\";q=1;w=10")
                .containsEntry("RateLimit", "\"wide\";r=9;t=1, \"narrow\";r=0;t=10");
    }

    @Test
    void givesBackWhatEarlierLimitsTookWhenALaterOneDenies() {
        Admission<String> admission = both().build();
        admitted(admission, "a");

        Outcome denied = admitted(admission, "a");

        assertThat(denied)
                .isInstanceOfSatisfying(
                        Outcome.Denied.class,
                        refusal -> assertThat(refusal.body()).contains("\"violated-policies\":[\"narrow\"]"));
        assertThat(denied.headers().get("RateLimit"))
                .startsWith("\"wide\";r=9;")
                .endsWith("\"narrow\";r=0;t=10");
        assertThat(wide.peekSync("a").remaining()).isEqualTo(9);
    }

    @Test
    void asksNoLaterLimitAfterADenial() {
        Admission<String> admission = Admission.<String>builder(narrow)
                .policy("narrow")
                .key(request -> request)
                .and(wide)
                .policy("wide")
                .key(request -> request)
                .failMode(FailMode.CLOSED)
                .build();
        admitted(admission, "a");

        admitted(admission, "a");

        assertThat(wide.peekSync("a").remaining()).isEqualTo(9);
    }

    @Test
    void givesBackWhenALaterStoreIsDownAndClosed() {
        Admission.Builder<String> admission =
                both().and(broken).policy("broken").key(request -> request);

        Outcome closed = admitted(admission, "a");
        Outcome open = admitted(admission.failMode(FailMode.OPEN), "b");

        assertThat(closed).isInstanceOf(Outcome.Unavailable.class);
        assertThat(wide.peekSync("a").remaining()).isEqualTo(10);
        assertThat(open).isInstanceOf(Outcome.Pass.class);
        assertThat(open.headers().get("RateLimit")).contains("wide", "narrow").doesNotContain("broken");
    }

    @Test
    void givesBackWhenALaterKeyFails() {
        Admission<String> admission = both().and(limiter("more", Gcra.perSecond(1)))
                .policy("faulty")
                .key(request -> {
                    throw new IllegalStateException("a bug in the key");
                })
                .build();

        StepVerifier.create(admission.admit("a")).verifyErrorMessage("a bug in the key");

        assertThat(wide.peekSync("a").remaining()).isEqualTo(10);
    }

    @Test
    void leavesOutLimitsThatAreNotForARequest() {
        Admission<String> admission = Admission.<String>choosing(
                        request -> request.startsWith("free") ? null : request.startsWith("big") ? wide : narrow)
                .policy("by-tenant")
                .key(request -> request)
                .and(narrow)
                .policy("posts")
                .key(request -> "posts")
                .when(request -> request.endsWith("post"))
                .failMode(FailMode.CLOSED)
                .build();

        assertThat(admitted(admission, "free").headers()).isEmpty();
        assertThat(admitted(admission, "big").headers()).containsEntry("RateLimit-Policy", "\"by-tenant\";q=10;w=10");
        assertThat(admitted(admission, "small").headers()).containsEntry("RateLimit-Policy", "\"by-tenant\";q=1;w=10");
        assertThat(admitted(admission, "free-post").headers()).containsEntry("RateLimit-Policy", "\"posts\";q=1;w=10");
    }

    @Test
    void aDryRunDeniesNothingAndSaysNothing() {
        Admission<String> admission = both().dryRun(true)
                .and(broken)
                .policy("broken")
                .key(request -> request)
                .dryRun(true)
                .build();
        admitted(admission, "a");

        Outcome second = admitted(admission, "a");

        assertThat(second).isInstanceOf(Outcome.Pass.class);
        assertThat(second.headers()).containsEntry("RateLimit-Policy", "\"wide\";q=10;w=10");
    }

    @Test
    void needsAKeyForEachAndNamesThatDiffer() {
        Admission.Builder<String> noKey = Admission.<String>builder(wide)
                .key(request -> request)
                .and(narrow)
                .policy("second");
        Admission.Builder<String> sameName = both().policy("wide");

        assertThatIllegalStateException()
                .isThrownBy(() -> noKey.failMode(FailMode.OPEN).build())
                .withMessageStartingWith("key is missing for limit second");
        assertThatIllegalArgumentException()
                .isThrownBy(sameName::build)
                .withMessage("policy must be another one for each limit, was twice wide");
    }

    private static Outcome admitted(Admission.Builder<String> admission, String request) {
        return admitted(admission.build(), request);
    }

    private static Outcome admitted(Admission<String> admission, String request) {
        return admission.admit(request).blockOptional().orElseThrow();
    }
}
