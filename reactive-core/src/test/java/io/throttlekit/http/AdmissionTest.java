package io.throttlekit.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.throttlekit.FailMode;
import io.throttlekit.ManualClock;
import io.throttlekit.Store;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.Transform;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.FixedWindow;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class AdmissionTest {
    private static final Mono<Void> DOWN =
            Mono.error(() -> new StoreUnavailableException(Reason.TIMEOUT, true, "no answer in 250 ms", null));

    private final ManualClock clock = ManualClock.at(1_700_000_000_000_000L);
    private final MemoryStore memory = MemoryStore.builder().clock(clock).build();

    private Admission.Builder<String> over(Store store) {
        Limiter limiter = Limiter.builder(FixedWindow.of(2, Duration.ofSeconds(10)))
                .store(store)
                .build();
        return Admission.<String>builder(limiter).key(request -> request).failMode(FailMode.CLOSED);
    }

    private Admission.Builder<String> behind(Mono<Void> gate) {
        return over(new GatedStore(memory, gate));
    }

    @Test
    void passesWithHeadersUntilTheLimitAndDeniesWithABodyThen() {
        Admission<String> admission = over(memory).policy("per \"client\"").build();

        List<Outcome> outcomes = List.of(admitted(admission, "a"), admitted(admission, "a"), admitted(admission, "a"));

        assertThat(outcomes.get(1))
                .isEqualTo(new Outcome.Pass(Map.of(
                        "RateLimit-Policy", "\"per \\\"client\\\"\";q=2;w=10",
                        "RateLimit", "\"per \\\"client\\\"\";r=0;t=10")));
        assertThat(outcomes.get(2)).isInstanceOfSatisfying(Outcome.Denied.class, denied -> {
            assertThat(denied.status()).isEqualTo(429);
            assertThat(denied.headers())
                    .containsEntry("Retry-After", "10")
                    .containsEntry("RateLimit", "\"per \\\"client\\\"\";r=0;t=10")
                    .containsEntry("Content-Type", "application/problem+json")
                    .containsEntry("Cache-Control", "no-store");
            assertThat(denied.body())
                    .isEqualTo("{\"type\":\"https://iana.org/assignments/http-problem-types#quota-exceeded\","
                            + "\"title\":\"Request cannot be satisfied as assigned quota has been exceeded\","
                            + "\"status\":429,\"detail\":\"The limit is used up. Try again in 10 s.\","
                            + "\"violated-policies\":[\"per \\\"client\\\"\"],\"retryAfterSeconds\":10}");
        });
    }

    @Test
    void keepsKeysApart() {
        Admission<String> admission = over(memory).build();

        List<Outcome> outcomes = List.of(admitted(admission, "a"), admitted(admission, "a"), admitted(admission, "b"));

        assertThat(outcomes).hasOnlyElementsOfType(Outcome.Pass.class);
    }

    @Test
    void chargesEachSubscriptionAndNothingBefore() {
        Limiter limiter = Limiter.builder(FixedWindow.of(2, Duration.ofSeconds(10)))
                .store(memory)
                .build();
        Admission<String> admission = over(memory).build();

        Mono<Outcome> admit = admission.admit("a");

        assertThat(limiter.peekSync("a").remaining()).isEqualTo(2);
        StepVerifier.create(admit.then(admit)).expectNextCount(1).verifyComplete();
        assertThat(limiter.peekSync("a").remaining()).isZero();
    }

    @Test
    void isCallableWhereThereIsNothingToWaitForAndNowhereElse() throws Exception {
        Limiter other = Limiter.of(FixedWindow.of(2, Duration.ofSeconds(10)));

        Mono<Outcome> atOnce = over(memory).build().admit("a");
        List<Mono<Outcome>> others = List.of(
                behind(Mono.empty()).build().admit("a"),
                over(memory).keyMono(Mono::just).build().admit("a"),
                over(memory).cost(request -> 1).build().admit("a"),
                Admission.<String>choosing(request -> other)
                        .key(request -> request)
                        .failMode(FailMode.CLOSED)
                        .build()
                        .admit("a"),
                over(memory)
                        .and(other)
                        .policy("other")
                        .key(request -> request)
                        .build()
                        .admit("a"));

        assertThat(((Callable<?>) atOnce).call()).isInstanceOf(Outcome.Pass.class);
        assertThat(others).doesNotHaveAnyElementsOfTypes(Callable.class);
    }

    @Test
    void obeysTheFailModeWhenAStoreInThisProcessIsClosed() {
        Admission<String> closed = over(memory).build();
        Admission<String> open = over(memory).failMode(FailMode.OPEN).build();

        memory.close().block();

        assertThat(admitted(closed, "a")).isInstanceOf(Outcome.Unavailable.class);
        assertThat(admitted(open, "a")).isEqualTo(new Outcome.Pass(Map.of()));
    }

    @Test
    void refusesWith503WhenClosedAndTheStoreIsDown() {
        Admission<String> admission =
                behind(DOWN).outageRetryAfter(Duration.ofMillis(1200)).build();

        Outcome outcome = admitted(admission, "a");

        assertThat(outcome).isInstanceOfSatisfying(Outcome.Unavailable.class, unavailable -> {
            assertThat(unavailable.status()).isEqualTo(503);
            assertThat(unavailable.headers())
                    .isEqualTo(Map.of(
                            "Retry-After", "2",
                            "Content-Type", "application/problem+json",
                            "Cache-Control", "no-store"));
            assertThat(unavailable.body())
                    .contains("http-problem-types#temporary-reduced-capacity\"", "\"status\":503")
                    .endsWith("\"violated-policies\":[],\"retryAfterSeconds\":2}");
        });
    }

    @Test
    void passesWithoutHeadersWhenOpenAndTheStoreIsDown() {
        Admission<String> admission = behind(DOWN).failMode(FailMode.OPEN).build();

        Outcome outcome = admitted(admission, "a");

        assertThat(outcome).isEqualTo(new Outcome.Pass(Map.of()));
    }

    @Test
    void doesNotOpenForAFaultInTheProgram() {
        Admission<String> faultyStore = behind(Mono.error(new IllegalStateException("a bug")))
                .failMode(FailMode.OPEN)
                .build();
        Admission<String> faultyKey = over(memory)
                .key(request -> {
                    throw new IllegalArgumentException("a bug in the key");
                })
                .failMode(FailMode.OPEN)
                .build();
        Admission<String> outageInTheKey = over(memory)
                .keyMono(request -> DOWN.thenReturn("never"))
                .failMode(FailMode.OPEN)
                .build();

        StepVerifier.create(faultyStore.admit("a")).verifyErrorMessage("a bug");
        StepVerifier.create(faultyKey.admit("a")).verifyErrorMessage("a bug in the key");
        StepVerifier.create(outageInTheKey.admit("a")).verifyError(StoreUnavailableException.class);
    }

    @Test
    void takesARequestWithoutAKeyForAnError() {
        Admission<String> none = over(memory).key(request -> null).build();
        Admission<String> empty = over(memory).key(request -> "").build();
        Admission<String> nothing =
                over(memory).keyMono(request -> Mono.<String>empty().hide()).build();

        for (Admission<String> admission : List.of(none, empty, nothing)) {
            StepVerifier.create(admission.admit("a")).verifyErrorMessage("the key function gave no key");
        }
    }

    @Test
    void givesUpOnAKeyThatNeverComes() {
        Admission<String> admission = over(memory)
                .keyMono(request -> Mono.never())
                .keyTimeout(Duration.ofSeconds(3))
                .build();

        StepVerifier.withVirtualTime(() -> admission.admit("a"))
                .expectSubscription()
                .expectNoEvent(Duration.ofSeconds(3))
                .verifyErrorMessage("the key function gave no key within PT3S");
    }

    @Test
    void waitsForAKeyThatComesLater() {
        Admission<String> admission = over(memory)
                .keyMono(request -> Mono.delay(Duration.ofMillis(500)).thenReturn(request))
                .build();

        StepVerifier.withVirtualTime(() -> admission.admit("a"))
                .thenAwait(Duration.ofMillis(500))
                .assertNext(outcome -> assertThat(outcome).isInstanceOf(Outcome.Pass.class))
                .verifyComplete();
    }

    @Test
    void cancelsTheCheck() {
        AtomicBoolean cancelled = new AtomicBoolean();
        Admission<String> admission =
                behind(Mono.<Void>never().doOnCancel(() -> cancelled.set(true))).build();

        admission.admit("a").subscribe().dispose();

        assertThat(cancelled).isTrue();
    }

    @Test
    void isAnErrorWhenAStoreBreaksItsContractAndAnswersNothing() {
        Admission<String> admission = over(new SilentStore()).build();

        StepVerifier.create(admission.admit("a")).verifyError();
    }

    @Test
    void isNotBuiltWithoutAFailMode() {
        Limiter limiter = Limiter.of(FixedWindow.of(2, Duration.ofSeconds(10)));
        Admission.Builder<String> builder = Admission.<String>builder(limiter).key(request -> request);

        assertThatIllegalStateException().isThrownBy(builder::build).withMessageStartingWith("failMode is missing");
    }

    @Test
    void isNotBuiltWithoutAKey() {
        Limiter limiter = Limiter.of(FixedWindow.of(2, Duration.ofSeconds(10)));
        Admission.Builder<String> builder = Admission.<String>builder(limiter).failMode(FailMode.OPEN);

        assertThatIllegalStateException().isThrownBy(builder::build).withMessageStartingWith("key is missing");
    }

    @Test
    void refusesDurationsThatMeanNothing() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> over(memory).keyTimeout(Duration.ZERO))
                .withMessage("keyTimeout must be at least 1 ms, was PT0S");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> over(memory).outageRetryAfter(Duration.ofSeconds(-1)))
                .withMessage("outageRetryAfter must be more than zero, was PT-1S");
    }

    private static Outcome admitted(Admission<String> admission, String request) {
        return admission.admit(request).blockOptional().orElseThrow();
    }

    private static final class SilentStore implements Store {
        @Override
        public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
            return Mono.empty();
        }

        @Override
        public Mono<Void> reset(String key) {
            return Mono.empty();
        }

        @Override
        public Mono<Void> close() {
            return Mono.empty();
        }
    }
}
