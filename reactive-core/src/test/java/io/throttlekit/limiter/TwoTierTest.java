package io.throttlekit.limiter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.Clock;
import io.throttlekit.ManualClock;
import io.throttlekit.StateCodec;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.Strategy;
import io.throttlekit.Strategy.Verdict;
import io.throttlekit.SynchronousAccessException;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.FixedWindow;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** What all modes have in common. */
class TwoTierTest {
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final ManualClock clock = ManualClock.at(1_759_996_560_000_000L);
    private final MemoryStore store = MemoryStore.builder().clock(clock).build();
    private final Wire wire = new Wire(store);
    private final FixedWindow strategy = FixedWindow.of(10, MINUTE);

    private List<Limiter> allModes() {
        return List.of(
                TwoTier.strict(strategy, wire).prefix("strict").clock(clock).build(),
                TwoTier.cachedDeny(strategy, wire).prefix("deny").clock(clock).build(),
                TwoTier.leased(strategy, wire, LeaseOptions.batch(4))
                        .prefix("lease")
                        .clock(clock)
                        .build());
    }

    private static <T> T get(Mono<T> mono) {
        return Objects.requireNonNull(mono.block(Duration.ofSeconds(5)));
    }

    @Test
    void everyModeChecksAndLooks() {
        for (Limiter limiter : allModes()) {
            assertThat(limiter.strategy()).isSameAs(strategy);
            assertThat(get(limiter.check("k")).allowed()).isTrue();
            assertThat(get(limiter.checkUpTo("k", 3, 3)).granted()).isEqualTo(3);
            assertThat(get(limiter.peek("new")).remaining()).isEqualTo(10);
            assertThat(get(limiter.checkMany(List.of("b", "a"), 2)))
                    .extracting(Checked::key)
                    .containsExactly("b", "a");
            assertThat(get(limiter.check("a", 9)).allowed()).isFalse();
            assertThat(get(limiter.peek("a")).allowed()).isTrue();
        }
        assertThat(store.applySync("strict:k", strategy.peek()).remaining()).isEqualTo(6);
        assertThat(store.applySync("deny:k", strategy.peek()).remaining()).isEqualTo(6);
        assertThat(store.applySync("lease:k", strategy.peek()).remaining()).isEqualTo(6);
    }

    @Test
    void forecastsAndRefundsAreTheStores() {
        for (Limiter limiter : allModes()) {
            get(limiter.check("k", 4));

            assertThat(get(limiter.forecast("k")).spendableNow()).isEqualTo(6);
            assertThat(get(limiter.refund("k", 3, null))).isTrue();
            assertThat(get(limiter.forecast("k", 2)).spendableNow()).isEqualTo(4);
            limiter.reset("k").block();
            assertThat(get(limiter.forecast("k")).spendableNow()).isEqualTo(10);
        }
    }

    @Test
    void refusesBadArgumentsBeforeAnythingIsTouched() {
        for (Limiter limiter : allModes()) {
            for (long cost : new long[] {0, -1, Strategy.MAX_COST + 1}) {
                assertThatThrownBy(() -> limiter.check("k", cost)).isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> limiter.checkMany(List.of("k"), cost))
                        .isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> limiter.refund("k", cost, null)).isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> limiter.forecast("k", cost)).isInstanceOf(IllegalArgumentException.class);
            }
            assertThatThrownBy(() -> limiter.checkUpTo("k", 1, 0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> limiter.checkUpTo("k", 2, 1)).hasMessageContaining("[2, 1]");
            assertThatThrownBy(() -> limiter.checkMany(List.of("a", "a"))).hasMessageContaining("distinct");
        }
        assertThat(wire.calls).hasValue(0);
    }

    @Test
    void namesTheCallThatCannotWait() {
        for (Limiter limiter : allModes()) {
            refused(() -> limiter.checkUpToSync("k", 1, 2), "checkSync");
            refused(() -> limiter.checkManySync(List.of("k")), "checkManySync");
            refused(() -> limiter.peekSync("k"), "peekSync");
            refused(() -> limiter.forecastSync("k", 1), "forecastSync");
            refused(() -> limiter.refundSync("k", 1, null), "refundSync");
            refused(() -> limiter.resetSync("k"), "resetSync");
        }
    }

    private static void refused(ThrowingCallable call, String name) {
        assertThatThrownBy(call)
                .isInstanceOf(SynchronousAccessException.class)
                .hasMessage(name + " cannot wait for a second tier: use the Mono");
    }

    @Test
    void refusesBadOptionsWhenItIsBuilt() {
        TwoTier.Builder builder = TwoTier.strict(strategy, store);

        assertThatThrownBy(() -> builder.maxKeys(0)).hasMessage("maxKeys must be at least 1, was 0");
        assertThat(builder.maxKeys(1)).isSameAs(builder);
        for (String prefix : new String[] {"", "a:b", "a b", "\u00e4"}) {
            assertThatThrownBy(() -> builder.prefix(prefix))
                    .hasMessage("prefix must match [A-Za-z0-9_.-]+, was \"" + prefix + "\"");
        }
        assertThat(builder.prefix("aZ09_.-")).isSameAs(builder);
        assertThat(builder.clock(Clock.system())).isSameAs(builder);
    }

    /** A strategy of a user's, which cannot take units back. */
    private static Strategy<Long> countingTo(long limit) {
        StateCodec<Long> codec = new StateCodec<>() {
            @Override
            public String kind() {
                return "counting";
            }

            @Override
            public byte[] encode(Long used) {
                return ByteBuffer.allocate(8).putLong(used).array();
            }

            @Override
            public Long decode(byte[] bytes) {
                return ByteBuffer.wrap(bytes).getLong();
            }

            @Override
            public long expiresAt(Long used) {
                return Long.MAX_VALUE;
            }

            @Override
            public long remaining(Long used, long nowMicros) {
                return limit - used;
            }
        };
        return Strategy.of("counting", limit, codec, (used, now, cost) -> {
            long next = (used == null ? 0 : used) + cost;
            return next <= limit ? Verdict.allow(next) : Verdict.deny(now + 1_000_000);
        });
    }

    @Test
    void leasesFromAStrategyThatCannotRefundUnlessIdleCreditsAreToGoBack() {
        Strategy<Long> counting = countingTo(10);
        LeaseOptions options = LeaseOptions.batch(4);
        Limiter limiter =
                TwoTier.leased(counting, wire, options).clock(clock).prefix("c").build();

        assertThat(get(limiter.check("k")).remaining()).isEqualTo(3);
        limiter.close().block();
        // What is left is given up.
        assertThat(store.applySync("c:k", counting.peek()).remaining()).isEqualTo(6);
        assertThatThrownBy(() -> TwoTier.leased(counting, wire, options.returnIdleAfter(MINUTE))
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("returnIdleAfter needs a strategy that can refund, and counting cannot");
    }

    @Test
    void closeIsColdAndNothingIsKnownAfterwards() {
        for (Limiter limiter : allModes()) {
            get(limiter.check("k"));
            Mono<Void> close = limiter.close();

            assertThat(get(limiter.check("k")).allowed()).isTrue();
            StepVerifier.create(close).verifyComplete();

            StepVerifier.create(limiter.check("k")).verifyError(StoreUnavailableException.class);
            StepVerifier.create(limiter.check("other")).verifyError(StoreUnavailableException.class);
            assertThat(get(limiter.peek("other")).remaining()).isEqualTo(10);
            StepVerifier.create(close).verifyComplete();
        }
    }
}
