package io.throttlekit.limiter;

import io.throttlekit.Clock;
import io.throttlekit.Decision;
import io.throttlekit.StoreUnavailableException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Asks the second tier for every check, except while it is known that it would deny. */
final class DenialTier implements Tier {
    /** Costs that are told apart per key: a small one is denied for a shorter time than a large one. */
    private static final int DENIALS = 4;

    private static final long MAX_WAIT_MS = (1L << 61) / 1_000_000;

    private final Origin<?> origin;
    private final Clock clock;
    private final KeyTable<Denials> keys;
    private volatile boolean closed;

    DenialTier(Origin<?> origin, Clock clock, int maxKeys) {
        this.origin = origin;
        this.clock = clock;
        this.keys = new KeyTable<>(maxKeys);
    }

    /** A denial, and the times between which it stands: on the monotonic clock, from before it was asked for. */
    private record Denial(long cost, long sentNanos, long untilNanos, Decision decision) {
        boolean over(long now) {
            return now - untilNanos >= 0;
        }

        /** The same denial as of now. */
        Decision answer(long requested, long now) {
            long elapsedMs = Math.max(0, now - sentNanos) / 1_000_000;
            long leftMs = (untilNanos - now + 999_999) / 1_000_000;
            return Decision.denied(
                    requested,
                    decision.limit(),
                    decision.remaining(),
                    decision.resetAtMs(),
                    leftMs,
                    decision.decidedAtMs() + elapsedMs);
        }
    }

    private static final class Denials extends KeyTable.Item {
        /** By cost; larger costs are denied for longer. Replaced as a whole, under this. */
        private volatile List<Denial> list = List.of();

        private boolean dead;

        Denials(String key) {
            super(key);
        }

        /** The longest denial that covers a cost. */
        @Nullable
        Denial covering(long cost, long now) {
            Denial longest = null;
            for (Denial denial : list) {
                if (denial.cost <= cost && !denial.over(now)) {
                    longest = denial;
                }
            }
            return longest;
        }

        synchronized boolean add(Denial added, long now) {
            if (dead) {
                return false;
            }
            List<Denial> kept = new ArrayList<>();
            for (Denial denial : list) {
                boolean covered = denial.cost >= added.cost && denial.untilNanos - added.untilNanos <= 0;
                if (!covered && !denial.over(now)) {
                    kept.add(denial);
                }
            }
            kept.add(added);
            kept.sort(Comparator.comparingLong(Denial::cost));
            list = List.copyOf(kept.subList(0, Math.min(DENIALS, kept.size())));
            return true;
        }

        /** Ends the item if all it held is over. */
        synchronized boolean retireIfOver(long now) {
            dead = dead || list.stream().allMatch(denial -> denial.over(now));
            return dead;
        }

        @Override
        long value() {
            List<Denial> all = list;
            return all.isEmpty() ? Long.MIN_VALUE : all.get(all.size() - 1).untilNanos;
        }

        @Override
        synchronized boolean retire() {
            dead = true;
            return true;
        }

        @Override
        void ended() {}
    }

    @Override
    public Mono<Decision> check(String key, long min, long max) {
        return Mono.defer(() -> {
            if (closed) {
                return Mono.error(KeyTable.closed());
            }
            long now = clock.monotonicNanos();
            Denials known = keys.get(key);
            Denial denial = known == null ? null : known.covering(min, now);
            if (denial != null) {
                return Mono.just(denial.answer(min, now));
            }
            if (known != null && known.retireIfOver(now)) {
                keys.remove(known);
            }
            return origin.check(key, min, max).doOnNext(decision -> {
                if (!decision.allowed()) {
                    remember(key, min, now, decision);
                }
            });
        });
    }

    private void remember(String key, long cost, long sentNanos, Decision decision) {
        long untilNanos = sentNanos + Math.min(MAX_WAIT_MS, decision.retryAfterMs()) * 1_000_000;
        Denial denial = new Denial(cost, sentNanos, untilNanos, decision);
        long now = clock.monotonicNanos();
        if (denial.over(now)) {
            return;
        }
        try {
            Denials denials = keys.getOrAdd(key, Denials::new);
            while (denials != null && !denials.add(denial, now)) {
                keys.remove(denials);
                denials = keys.getOrAdd(key, Denials::new);
            }
        } catch (StoreUnavailableException e) {
            // Closed meanwhile: there is nothing to remember it for.
            return;
        }
    }

    @Override
    public Mono<Decision> peek(String key) {
        return Mono.defer(() -> {
            long now = clock.monotonicNanos();
            Denials known = keys.get(key);
            Denial denial = known == null ? null : known.covering(1, now);
            return denial == null ? origin.peek(key) : Mono.just(denial.answer(1, now));
        });
    }

    @Override
    public void forget(String key) {
        Denials known = keys.get(key);
        if (known != null && known.retire()) {
            keys.remove(known);
        }
    }

    @Override
    public void refunded(String key) {
        forget(key);
    }

    @Override
    public Mono<Void> close() {
        return Mono.fromRunnable(() -> {
            closed = true;
            keys.close();
        });
    }
}
