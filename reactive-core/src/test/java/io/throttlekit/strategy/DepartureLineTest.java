package io.throttlekit.strategy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.Clock;
import io.throttlekit.ExactMicros;
import io.throttlekit.ManualClock;
import io.throttlekit.Program;
import io.throttlekit.ScalarTransform;
import io.throttlekit.StateCodec;
import io.throttlekit.StateMismatchException;
import io.throttlekit.Step;
import io.throttlekit.Transform;
import io.throttlekit.store.MemoryStore;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DepartureLineTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final long START = 1_759_996_572_738_123L;

    private final ManualClock clock = ManualClock.at(START);
    private final MemoryStore store = store(clock);

    private static MemoryStore store(Clock clock) {
        return MemoryStore.builder().clock(clock).sweepInterval(Duration.ZERO).build();
    }

    private static DepartureLine line(String rate, Duration period, Duration maxQueue) {
        return DepartureLine.of(new BigDecimal(rate), period).withMaxQueue(maxQueue);
    }

    private <R> R apply(Transform<ExactMicros, R> transform) {
        return store.applySync("k", transform, store.nowMicros());
    }

    /** Only the general form: what a store without programs and cells sees. */
    private static <R> Transform<ExactMicros, R> plain(Transform<ExactMicros, R> transform) {
        return new Transform<>() {
            @Override
            public StateCodec<ExactMicros> codec() {
                return transform.codec();
            }

            @Override
            public Step<ExactMicros> step(@Nullable ExactMicros before, long nowMicros) {
                return transform.step(before, nowMicros);
            }

            @Override
            public R read(Step<ExactMicros> step, long nowMicros) {
                return transform.read(step, nowMicros);
            }
        };
    }

    @Test
    void savesNothingUpWhileIdle() {
        DepartureLine line = line("10", SECOND, SECOND);
        apply(line.reserve(1));
        clock.advance(Duration.ofSeconds(5));

        List<Long> waits = IntStream.range(0, 5)
                .mapToObj(i -> apply(line.reserve(1)).waitMicros())
                .toList();

        assertThat(waits).containsExactly(0L, 100_000L, 200_000L, 300_000L, 400_000L);
    }

    @Test
    void rejectsWhoWouldWaitLongerThanTheQueue() {
        DepartureLine line = line("2", SECOND, SECOND);

        List<Departure> departures =
                IntStream.range(0, 4).mapToObj(i -> apply(line.reserve(1))).toList();

        assertThat(departures).extracting(Departure::waitMicros).containsExactly(0L, 500_000L, 1_000_000L, 500_000L);
        assertThat(departures).extracting(Departure::accepted).containsExactly(true, true, true, false);
    }

    @Test
    void keepsThirdsOfAMicrosecond() {
        DepartureLine line = line("3000000", SECOND, SECOND);

        for (int i = 0; i < 2; i++) {
            apply(line.reserve(1));
        }

        assertThat(apply(line.reserve(1)).at()).isEqualTo(new ExactMicros(START, 2, 3));
        assertThat(apply(line.reserve(1)).at()).isEqualTo(new ExactMicros(START + 1, 0, 3));
    }

    @Test
    void givesTheLastPlaceBackAndNoOther() {
        DepartureLine line = line("2", SECOND, SECOND);
        apply(line.reserve(1));
        Departure middle = apply(line.reserve(1));
        Departure last = apply(line.reserve(1));

        assertThat(apply(line.cancel(middle))).isFalse();
        assertThat(apply(line.cancel(last))).isTrue();
        assertThat(apply(line.cancel(last))).isFalse();
        assertThat(apply(line.cancel(middle))).isTrue();
        assertThat(apply(line.reserve(1)).at()).isEqualTo(middle.at());
    }

    @Test
    void keepsAPlaceThatHasDeparted() {
        DepartureLine line = line("2", SECOND, SECOND);
        Departure atOnce = apply(line.reserve(1));
        Departure later = apply(line.reserve(1));

        assertThat(apply(line.cancel(atOnce))).isFalse();
        clock.advance(Duration.ofMillis(500));
        assertThat(apply(line.cancel(later))).isFalse();
        assertThat(apply(line.reserve(1)).waitMicros()).isEqualTo(500_000);
    }

    @Test
    void givesAPlaceBackThatDepartsWithinThisMicrosecond() {
        DepartureLine line = line("3000000", SECOND, SECOND);
        apply(line.reserve(1));
        Departure second = apply(line.reserve(1));
        Departure third = apply(line.reserve(1));

        assertThat(third.at()).isEqualTo(new ExactMicros(START, 2, 3));
        assertThat(apply(line.cancel(third))).isTrue();
        assertThat(apply(plain(line.cancel(second)))).isTrue();
        assertThat(apply(line.reserve(1)).at()).isEqualTo(new ExactMicros(START, 1, 3));
    }

    @Test
    void tellsNanosecondsOfTheExactFraction() {
        DepartureLine line = line("3000000", SECOND, Duration.ofNanos(1000));
        apply(line.reserve(1));

        Departure second = apply(line.reserve(1));
        Departure third = apply(line.reserve(1));
        Departure fourth = apply(line.reserve(2));
        Departure rejected = apply(line.reserve(1));

        assertThat(second.waitNanos()).isEqualTo(334);
        assertThat(third.waitNanos()).isEqualTo(667);
        assertThat(fourth.waitNanos()).isEqualTo(1_000);
        assertThat(rejected.waitNanos()).isEqualTo(1_000);
        assertThat(rejected.decidedAtMicros()).isEqualTo(START);
        assertThat(rejected.toString()).contains("rejected, cost=1").contains("waitMicros=1");
        assertThat(second.toString()).contains("accepted, cost=1").contains("waitMicros=1");
    }

    @Test
    void anEvictingStoreCountsTheSameInTicks() {
        ScalarTransform<ExactMicros, Departure> reserve = (ScalarTransform<ExactMicros, Departure>)
                line("10", SECOND, SECOND).reserve(1);

        assertThat(reserve.remainingTicks(-5, 0)).isEqualTo(11);
        assertThat(reserve.remainingTicks(500_000, 0)).isEqualTo(6);
        assertThat(reserve.remainingTicks(1_100_000, 100_000)).isEqualTo(1);
        assertThat(reserve.remainingTicks(1_000_001, 0)).isZero();
    }

    @Test
    void takesTheCompactFormWhileQueueAndCostFitIt() {
        DepartureLine fits = line("4096", Duration.ofNanos(1000), Duration.ofNanos(((1L << 48) - 1) * 1000));

        assertThat(ticks(fits.reserve(4096))).isEqualTo(4096);
        assertThat(ticks(fits.reserve(4097))).isZero();
        assertThat(ticks(line("4097", Duration.ofNanos(1000), SECOND).reserve(1)))
                .isZero();
        assertThat(ticks(line("4096", Duration.ofNanos(1000), Duration.ofNanos((1L << 48) * 1000))
                        .reserve(1)))
                .isZero();
        assertThat(ticks(line("1", Duration.ofNanos(1000), SECOND).reserve(1L << 51)))
                .isEqualTo(1);
        assertThat(ticks(line("1", Duration.ofNanos(1000), Duration.ZERO).reserve(1)))
                .isEqualTo(1);
    }

    private static long ticks(Transform<ExactMicros, Departure> reserve) {
        return ((ScalarTransform<ExactMicros, Departure>) reserve).ticksPerMicro();
    }

    @Test
    void anEvictingStoreCountsFractionsInTheGeneralForm() {
        StateCodec<ExactMicros> codec =
                line("3000000", SECOND, Duration.ofNanos(2000)).reserve(1).codec();

        assertThat(codec.remaining(new ExactMicros(START, 1, 3), START)).isEqualTo(6);
        assertThat(codec.remaining(new ExactMicros(START + 1, 2, 3), START)).isEqualTo(2);
        assertThat(codec.remaining(new ExactMicros(START + 2, 0, 3), START)).isEqualTo(1);
        assertThat(codec.remaining(new ExactMicros(START + 2, 1, 3), START)).isZero();
        assertThat(codec.remaining(new ExactMicros(START - 9, 1, 3), START)).isEqualTo(7);
        assertThat(codec.kind()).isEqualTo("leakyBucket");
    }

    @Test
    void sendsItsSpansReadyMadeAndReadsTheReply() {
        DepartureLine line = line("3000000", SECOND, Duration.ofNanos(2000));
        Program<Departure> reserve = Objects.requireNonNull(line.reserve(4).program());
        Departure departure = apply(line.reserve(4));
        Program<Boolean> cancel = Objects.requireNonNull(line.cancel(departure).program());

        assertThat(reserve.operation()).isEqualTo("reserve");
        assertThat(reserve.args(START)).containsExactly(3L, 2L, 4L, 1L, 1L);
        assertThat(cancel.operation()).isEqualTo("cancel");
        assertThat(cancel.args(START)).containsExactly(3L, START, 0L, START + 1, 1L);
        assertThat(reserve.read(List.of(4L, START, START + 1, 2L)))
                .hasToString(new Departure(true, 4, START, START + 1, 2, 3, 2).toString());
        assertThat(reserve.read(List.of(0L, START, START + 2, 1L)))
                .hasToString(new Departure(false, 4, START, START + 2, 1, 3, 1).toString());
        assertThat(cancel.read(List.of(1L, START, START, 0L))).isTrue();
        assertThat(cancel.read(List.of(0L, START, START, 0L))).isFalse();
    }

    @Test
    void refusesToReadAnotherKindOfState() {
        store.applySync("k", Gcra.of(1, Duration.ofHours(1)).check(1, 1), START);

        assertThatThrownBy(() -> apply(line("1", SECOND, SECOND).reserve(1)))
                .isInstanceOf(StateMismatchException.class);
    }

    @Test
    void refusesWhatCannotBeKeptExact() {
        DepartureLine line = line("1", SECOND, SECOND);

        assertThatThrownBy(() -> line("0", SECOND, SECOND)).hasMessageContaining("rate must be more than 0");
        assertThatThrownBy(() -> line("1", Duration.ZERO, SECOND)).hasMessageContaining("period must be");
        assertThatThrownBy(() -> line("1", SECOND, Duration.ofMillis(-1))).hasMessageContaining("at least 0");
        assertThatThrownBy(() -> line("1", SECOND, Duration.ofNanos(1))).hasMessageContaining("whole number");
        assertThatThrownBy(() -> line("1", SECOND, Duration.ofDays(60_000))).hasMessageContaining("maxQueue");
        assertThatThrownBy(() -> line.reserve(0)).hasMessageContaining("cost must be");
        assertThatThrownBy(() -> line.reserve(1L << 53)).hasMessageContaining("cost must be");
        assertThatThrownBy(() -> line.reserve(5_000_000_000L)).hasMessageContaining("142 years");
    }

    @Test
    void queueAndCostMayTakeAsLongAsCanBeKeptExact() {
        DepartureLine line = line("1", Duration.ofNanos(1000), Duration.ofNanos(1_000_000));
        long most = (1L << 52) - 1000;

        assertThat(apply(line.reserve(most)).accepted()).isTrue();
        assertThatThrownBy(() -> line.reserve(most + 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("cost 4503599627369497 at 1 per 1 us, after a queue of 1000 us, spans more than"
                        + " 4503599627370496 us (142 years)");
    }

    @Test
    void anEvictingStoreForgetsTheShorterLine() {
        DepartureLine line = line("10", SECOND, SECOND);
        StateCodec<ExactMicros> codec = line.reserve(1).codec();

        assertThat(codec.remaining(new ExactMicros(START, 0, 1), START)).isEqualTo(11);
        assertThat(codec.remaining(new ExactMicros(START + 500_000, 0, 1), START))
                .isEqualTo(6);
        assertThat(codec.remaining(new ExactMicros(START + 1_000_000, 0, 1), START))
                .isEqualTo(1);
        assertThat(codec.remaining(new ExactMicros(START + 1_000_001, 0, 1), START))
                .isZero();
    }

    /** Cells, the general form and a mix of them, against fractions of unbounded size. */
    @Test
    void allFormsAgreeWithFractions() {
        Random random = new Random(7);
        for (int round = 0; round < 300; round++) {
            long rate = 1L + random.nextInt(round % 3 == 0 ? 20 : 100_000);
            long periodMicros = 1L + random.nextInt(round % 2 == 0 ? 1_000 : 10_000_000);
            long queueMicros = random.nextInt(4) == 0 ? 0 : random.nextInt(2_000_000);
            ManualClock time = ManualClock.at(START);
            MemoryStore cells = store(time);
            MemoryStore general = store(time);
            MemoryStore mixed = store(time);
            DepartureLine line = DepartureLine.of(BigDecimal.valueOf(rate), Duration.ofNanos(periodMicros * 1000))
                    .withMaxQueue(Duration.ofNanos(queueMicros * 1000));
            Fractions model = new Fractions(rate, periodMicros, queueMicros);
            List<Departure> newest = new ArrayList<>();
            for (int op = 0; op < 60; op++) {
                time.set(time.epochMicros() + (random.nextInt(10) == 0 ? -random.nextInt(1000) : random.nextInt(5000)));
                long now = time.epochMicros();
                boolean simple = random.nextBoolean();
                if (random.nextInt(4) == 0 && !newest.isEmpty()) {
                    Departure departure = newest.remove(newest.size() - 1);
                    Transform<ExactMicros, Boolean> cancel = line.cancel(departure);

                    boolean expected = model.cancel(departure.at(), departure.cost(), departure.accepted(), now);

                    assertThat(cells.applySync("k", cancel, now)).isEqualTo(expected);
                    assertThat(general.applySync("k", plain(cancel), now)).isEqualTo(expected);
                    assertThat(mixed.applySync("k", simple ? plain(cancel) : cancel, now))
                            .isEqualTo(expected);
                } else {
                    long cost = 1L + (random.nextInt(3) == 0 ? random.nextInt(50) : 0);
                    Transform<ExactMicros, Departure> reserve = line.reserve(cost);

                    String expected = model.reserve(cost, now);

                    Departure departure = cells.applySync("k", reserve, now);
                    assertThat(departure.accepted() + " " + departure.waitMicros())
                            .isEqualTo(expected);
                    assertThat(general.applySync("k", plain(reserve), now)).hasToString(departure.toString());
                    assertThat(mixed.applySync("k", simple ? plain(reserve) : reserve, now))
                            .hasToString(departure.toString());
                    newest.add(departure);
                }
            }
        }
    }

    /** The page of semantics, word for word, in ticks of 1/rate microseconds. */
    private static final class Fractions {
        private final BigInteger perUnit;
        private final BigInteger perMicro;
        private final BigInteger queue;
        private @Nullable BigInteger end;

        Fractions(long rate, long periodMicros, long queueMicros) {
            this.perMicro = BigInteger.valueOf(rate);
            this.perUnit = BigInteger.valueOf(periodMicros);
            this.queue = BigInteger.valueOf(queueMicros).multiply(perMicro);
        }

        String reserve(long cost, long now) {
            BigInteger ticks = BigInteger.valueOf(now).multiply(perMicro);
            BigInteger departure = end == null ? ticks : end.max(ticks);
            BigInteger delay = departure.subtract(ticks);
            if (delay.compareTo(queue) <= 0) {
                end = departure.add(perUnit.multiply(BigInteger.valueOf(cost)));
                return "true " + Exact.ceilDiv(delay, perMicro);
            }
            return "false " + Exact.ceilDiv(delay.subtract(queue), perMicro);
        }

        boolean cancel(ExactMicros at, long cost, boolean accepted, long now) {
            BigInteger departure = BigInteger.valueOf(at.whole())
                    .multiply(perMicro)
                    .add(BigInteger.valueOf(at.part()).multiply(perMicro).divide(BigInteger.valueOf(at.of())));
            boolean last =
                    departure.add(perUnit.multiply(BigInteger.valueOf(cost))).equals(end);
            if (!accepted
                    || !last
                    || departure.compareTo(BigInteger.valueOf(now).multiply(perMicro)) <= 0) {
                return false;
            }
            end = departure;
            return true;
        }
    }

    @Test
    void manyThreadsGetPlacesOfTheirOwn() {
        DepartureLine line = line("1000000", SECOND, SECOND);

        List<CompletableFuture<List<ExactMicros>>> threads = IntStream.range(0, 4)
                .mapToObj(t -> CompletableFuture.supplyAsync(() -> IntStream.range(0, 5_000)
                        .mapToObj(i -> apply(line.reserve(1)).at())
                        .toList()))
                .toList();

        List<ExactMicros> all =
                threads.stream().flatMap(thread -> thread.join().stream()).toList();
        assertThat(all).hasSize(20_000).doesNotHaveDuplicates();
        assertThat(apply(line.reserve(1)).waitMicros()).isEqualTo(20_000);
    }
}
