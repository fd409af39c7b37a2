package io.throttlekit.strategy;

import static io.throttlekit.strategy.Exact.big;

import io.throttlekit.Decision;
import io.throttlekit.ExactMicros;
import io.throttlekit.Forecast;
import io.throttlekit.Program;
import io.throttlekit.ScalarTransform;
import io.throttlekit.StateCodec;
import io.throttlekit.Step;
import io.throttlekit.Strategy;
import io.throttlekit.Transform;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The generic cell rate algorithm: {@code limit} units per {@code period}, evenly spaced, with up to
 * {@code burst} at once. The default choice: one instant of state, no window edge, exact retry times.
 *
 * <p>The decision's limit is {@code burst}. Source: ITU-T I.371 (the virtual scheduling form).
 *
 * <pre>{@code
 * Gcra.of(100, Duration.ofMinutes(1));                  // 100 a minute, all at once if they come so
 * Gcra.of(100, Duration.ofMinutes(1)).withBurst(10);    // 100 a minute, at most 10 at once
 * Gcra.perSecond(1.67);                                 // exactly 167 per 100 seconds
 * }</pre>
 */
public final class Gcra implements Strategy<ExactMicros> {
    /*
     * The state is the theoretical arrival time TAT: the instant at which the key has drained. A unit
     * moves it by T = period/limit, and a request conforms while TAT stays within tau = burst·T of now.
     *
     * Three forms of one formula: `next` in ticks of 1/L microseconds for a store that keeps a long,
     * `step` in whole microseconds and a fraction for every other, and the scripts. All of them report how
     * far TAT lies ahead of now, and one `decide` makes the Decision of it. Since now is whole
     * microseconds, the fraction of TAT is the fraction of the distance.
     */
    private static final long MAX_CELL_DENOMINATOR = 4096;
    private static final long MAX_CELL_TAU = 1L << 60;

    private final BigDecimal count;
    private final long periodMicros;
    private final long burst;
    private final Interval interval;
    private final long tauWhole;
    private final long tauPart;
    /** Ticks per microsecond if TAT fits a long of ticks, else 0. */
    private final long cellTicksPerMicro;

    private final long tauTicks;
    private final long perUnit;
    private final Divisor unit;
    private final Codec codec = new Codec();
    private final Check one;

    private Gcra(BigDecimal count, long periodMicros, long burst) {
        this.count = count;
        this.periodMicros = periodMicros;
        this.burst = burst;
        this.interval = Interval.of("limit", count, periodMicros, "burst", burst);
        this.tauWhole = interval.wholeOf(burst);
        this.tauPart = interval.partOf(burst);
        BigInteger ticks = interval.ticksOf(burst);
        boolean cell = interval.perMicro <= MAX_CELL_DENOMINATOR && ticks.compareTo(big(MAX_CELL_TAU)) <= 0;
        this.cellTicksPerMicro = cell ? interval.perMicro : 0;
        this.tauTicks = cell ? ticks.longValueExact() : 0;
        this.perUnit = interval.ticks;
        this.unit = new Divisor(perUnit);
        this.one = new Check(1, 1, false);
        Script.load("gcra");
    }

    /**
     * {@code limit} units per {@code period}, all of which may come at once.
     *
     * @param limit at least 1
     * @param period whole microseconds, more than 0
     * @return the strategy
     * @throws IllegalArgumentException if a value is out of range or cannot be kept exact
     */
    public static Gcra of(long limit, Duration period) {
        Exact.atLeastOne("limit", limit);
        return new Gcra(BigDecimal.valueOf(limit), Exact.periodMicros("period", period), limit);
    }

    /**
     * A rate that is a decimal, taken exactly as it is written. The burst is its whole part, at least 1.
     *
     * @param limit units per period, more than 0
     * @param period whole microseconds, more than 0
     * @return the strategy
     * @throws IllegalArgumentException if a value is out of range or cannot be kept exact
     */
    public static Gcra of(BigDecimal limit, Duration period) {
        Exact.positive("limit", limit);
        long burst = Math.max(1, limit.min(BigDecimal.valueOf(MAX_COST)).longValue());
        return new Gcra(limit, Exact.periodMicros("period", period), burst);
    }

    /**
     * A rate per second, taken as the decimal it is written as: 0.1 is one per ten seconds.
     *
     * @param limit units per second, more than 0
     * @return the strategy
     * @throws IllegalArgumentException if the rate is out of range or cannot be kept exact
     */
    public static Gcra perSecond(double limit) {
        return of(Exact.asWritten("limit", limit), Duration.ofSeconds(1));
    }

    /**
     * The same rate with another burst.
     *
     * @param burst units that may come at once, at least 1
     * @return a new strategy
     * @throws IllegalArgumentException if the burst is out of range or cannot be kept exact
     */
    public Gcra withBurst(long burst) {
        return new Gcra(count, periodMicros, Exact.atLeastOne("burst", burst));
    }

    @Override
    public String name() {
        return "gcra";
    }

    @Override
    public long limit() {
        return burst;
    }

    @Override
    public Duration window() {
        return Duration.of(periodMicros, ChronoUnit.MICROS);
    }

    @Override
    public Transform<ExactMicros, Decision> check(long min, long max) {
        if (min == 1 && max == 1) {
            return one;
        }
        Exact.range(min, max);
        return new Check(min, max, false);
    }

    @Override
    public Transform<ExactMicros, Decision> peek() {
        return new Check(1, 1, true);
    }

    @Override
    public Transform<ExactMicros, Forecast> forecast(long cost) {
        Exact.cost(cost);
        return new Look(cost);
    }

    @Override
    public Transform<ExactMicros, Boolean> refund(long cost, @Nullable Decision charged) {
        Exact.cost(cost);
        return new Refund(cost);
    }

    /**
     * Makes the Decision, of the state after the step.
     *
     * @param aheadMicros how far TAT lies ahead of now, rounded up
     * @param waitMicros the wait of a denial, rounded up
     */
    private Decision decide(
            boolean allowed,
            long granted,
            long min,
            long nowMicros,
            long remaining,
            long aheadMicros,
            long waitMicros) {
        long resetAtMicros = Exact.sum(nowMicros, aheadMicros);
        return allowed
                ? Decision.allowedAt(granted, burst, remaining, resetAtMicros, nowMicros)
                : Decision.deniedAt(min, burst, remaining, resetAtMicros, Exact.up(waitMicros), nowMicros);
    }

    /** What is left of tau when TAT lies so far ahead of now: whole microseconds and ticks. */
    private record Room(long aheadMicros, long whole, long part) {}

    private Room room(long aheadWhole, long aheadPart) {
        boolean borrow = tauPart < aheadPart;
        return new Room(
                aheadPart == 0 ? aheadWhole : aheadWhole + 1,
                tauWhole - aheadWhole - (borrow ? 1 : 0),
                tauPart - aheadPart + (borrow ? interval.perMicro : 0));
    }

    /** The Decision when TAT is {@code aheadWhole} microseconds and {@code aheadPart} ticks after now. */
    private Decision decide(long granted, boolean peek, long min, long nowMicros, long aheadWhole, long aheadPart) {
        Room room = room(aheadWhole, aheadPart);
        long remaining = interval.unitsIn(room.whole, room.part);
        boolean allowed = granted > 0 || (peek && remaining >= min);
        return decide(
                allowed, granted, min, nowMicros, remaining, room.aheadMicros, allowed ? 0 : waitMicros(min, room));
    }

    /** {@code ceil(cost·T − room)}: the time until the room is as large as the cost. */
    private long waitMicros(long cost, Room room) {
        if (cost <= burst) {
            long whole = interval.wholeOf(cost) - room.whole;
            return interval.partOf(cost) > room.part ? whole + 1 : whole;
        }
        BigInteger perMicro = big(interval.perMicro);
        BigInteger ticks = big(room.whole).multiply(perMicro).add(big(room.part));
        return Exact.saturate(Exact.ceilDiv(interval.ticksOf(cost).subtract(ticks), perMicro));
    }

    private ExactMicros plus(ExactMicros tat, long units) {
        long part = tat.part() + interval.partOf(units);
        long carry = part >= interval.perMicro ? 1 : 0;
        return new ExactMicros(
                Math.addExact(tat.whole(), interval.wholeOf(units) + carry),
                part - carry * interval.perMicro,
                interval.perMicro);
    }

    /** TAT over this rate's denominator; now when there is none or it has passed. */
    private ExactMicros tat(@Nullable ExactMicros state, long nowMicros) {
        ExactMicros tat = state == null ? null : state.over(interval.perMicro);
        return tat == null || tat.whole() < nowMicros ? new ExactMicros(nowMicros, 0, interval.perMicro) : tat;
    }

    private long available(ExactMicros tat, long nowMicros) {
        Room room = room(Math.subtractExact(tat.whole(), nowMicros), tat.part());
        return interval.unitsIn(room.whole, room.part);
    }

    private abstract class Cell<R> extends ScalarTransform<ExactMicros, R> {
        Cell() {
            super(codec, cellTicksPerMicro);
        }

        @Override
        public ExactMicros fromTicks(long ticks, long originMicros) {
            return new ExactMicros(
                    Math.addExact(originMicros, Math.floorDiv(ticks, interval.perMicro)),
                    Math.floorMod(ticks, interval.perMicro),
                    interval.perMicro);
        }

        @Override
        public long remainingTicks(long ticks, long now) {
            return Math.max(0, (tauTicks - Math.max(0, ticks - now)) / perUnit);
        }
    }

    /** A check of a range, or a peek, which is a check that takes nothing. */
    private final class Check extends Cell<Decision> {
        private final long min;
        private final long max;
        private final boolean peek;
        /** Ticks of min; more than any room when min is above the burst or this is a peek. */
        private final long minTicks;

        // Copies of the strategy's numbers, in ticks: the hot path has all it reads in one object.
        private final long tau = tauTicks;
        private final long perUnit = Gcra.this.perUnit;
        private final Divisor byUnit = unit;

        Check(long min, long max, boolean peek) {
            this.min = min;
            this.max = max;
            this.peek = peek;
            this.minTicks = ticksPerMicro() == 0 || min > burst || peek ? Long.MAX_VALUE : min * perUnit;
        }

        @Override
        public long next(long before, long now, long nowMicros) {
            long tat = Math.max(before, now);
            long room = tau - (tat - now);
            if (minTicks > room) {
                return before;
            }
            return tat + (min == max ? minTicks : Math.min(max, room / perUnit) * perUnit);
        }

        @Override
        public Decision readTicks(long before, long after, long now, long nowMicros) {
            long ahead = Math.max(0, after - now);
            long remaining = byUnit.into(Math.max(0, tau - ahead));
            long perMicro = ticksPerMicro();
            long aheadMicros = perMicro == 1 ? ahead : (ahead + perMicro - 1) / perMicro;
            if (after != before) {
                long granted = min == max ? min : (after - Math.max(before, now)) / perUnit;
                return decide(true, granted, min, nowMicros, remaining, aheadMicros, 0);
            }
            if (peek && remaining > 0) {
                return decide(true, 0, min, nowMicros, remaining, aheadMicros, 0);
            }
            long wait = min <= burst
                    ? Exact.ceilDiv(min * perUnit + ahead - tau, perMicro)
                    : waitMicros(min, room(ahead / perMicro, ahead % perMicro));
            return decide(false, 0, min, nowMicros, remaining, aheadMicros, wait);
        }

        @Override
        public Step<ExactMicros> step(@Nullable ExactMicros before, long nowMicros) {
            ExactMicros tat = tat(before, nowMicros);
            long units = Math.min(max, available(tat, nowMicros));
            if (peek || units < min) {
                return new Step<>(before, 0);
            }
            return new Step<>(plus(tat, units), units);
        }

        @Override
        public Decision read(Step<ExactMicros> step, long nowMicros) {
            ExactMicros tat = tat(step.state(), nowMicros);
            return decide(step.granted(), peek, min, nowMicros, Math.subtractExact(tat.whole(), nowMicros), tat.part());
        }

        /*
         * check: L, tau, min, max, min·T, then 2^i·T for i = 0, 1, … as far as a range needs them; every
         * span is two numbers, whole microseconds and ticks. With those ready-made the script only adds and
         * compares. Replies granted, now, TAT after the step (now when absent).
         */
        @Override
        public Program<Decision> program() {
            if (peek || min > burst) {
                return Script.of("gcra", "look", List.of(interval.perMicro), this::ofReply);
            }
            long most = Math.min(max, burst);
            List<Long> args = new ArrayList<>(List.of(interval.perMicro, tauWhole, tauPart, min, most));
            args.add(interval.wholeOf(min));
            args.add(interval.partOf(min));
            for (long units = 1; units <= most - min; units *= 2) {
                args.add(interval.wholeOf(units));
                args.add(interval.partOf(units));
            }
            return Script.of("gcra", "check", args, usual(most), this::ofReply);
        }

        /** Of one cost, without ticks: tau - min·T, min, min·T. */
        private List<Long> usual(long most) {
            if (interval.perMicro != 1 || most != min) {
                return List.of();
            }
            long step = interval.wholeOf(min);
            return List.of(tauWhole - step, min, step);
        }

        private Decision ofReply(List<Long> reply) {
            long now = reply.get(1);
            return decide(reply.get(0), peek, min, now, reply.get(2) - now, reply.get(3));
        }
    }

    private final class Look extends Cell<Forecast> {
        private final long cost;

        Look(long cost) {
            this.cost = cost;
        }

        @Override
        public long next(long before, long now, long nowMicros) {
            return before;
        }

        @Override
        public Forecast readTicks(long before, long after, long now, long nowMicros) {
            long ahead = Math.max(0, after - now);
            long whole = ahead / interval.perMicro;
            return forecast(nowMicros, whole, ahead - whole * interval.perMicro);
        }

        @Override
        public Step<ExactMicros> step(@Nullable ExactMicros before, long nowMicros) {
            return new Step<>(before, 0);
        }

        @Override
        public Forecast read(Step<ExactMicros> step, long nowMicros) {
            ExactMicros tat = tat(step.state(), nowMicros);
            return forecast(nowMicros, Math.subtractExact(tat.whole(), nowMicros), tat.part());
        }

        @Override
        public Program<Forecast> program() {
            return Script.of("gcra", "look", List.of(interval.perMicro), reply -> {
                long now = reply.get(1);
                return forecast(now, reply.get(2) - now, reply.get(3));
            });
        }

        private Forecast forecast(long nowMicros, long aheadWhole, long aheadPart) {
            Room room = room(aheadWhole, aheadPart);
            long available = interval.unitsIn(room.whole, room.part);
            long next = available < burst ? waitMicros(available + 1, room) : 0;
            return new Forecast(
                    available / cost,
                    Exact.upOfSum(nowMicros, next),
                    Exact.upOfSum(nowMicros, room.aheadMicros),
                    Exact.up(nowMicros));
        }
    }

    private final class Refund extends Cell<Boolean> {
        private final long cost;

        Refund(long cost) {
            this.cost = cost;
        }

        @Override
        public long next(long before, long now, long nowMicros) {
            if (before <= now) {
                return before;
            }
            // A clock that stepped back may leave TAT more than tau ahead, so a cost above the burst counts too.
            boolean all = cost > (before - now) / interval.ticks;
            long after = all ? ABSENT : before - cost * interval.ticks;
            return after <= now ? ABSENT : after;
        }

        @Override
        public Boolean readTicks(long before, long after, long now, long nowMicros) {
            return after != before;
        }

        @Override
        public Step<ExactMicros> step(@Nullable ExactMicros before, long nowMicros) {
            ExactMicros tat = before == null ? null : before.over(interval.perMicro);
            if (tat == null || tat.whole() < nowMicros || (tat.whole() == nowMicros && tat.part() == 0)) {
                return new Step<>(before, 0);
            }
            BigInteger perMicro = big(interval.perMicro);
            BigInteger after =
                    big(tat.whole()).multiply(perMicro).add(big(tat.part())).subtract(interval.ticksOf(cost));
            if (after.compareTo(big(nowMicros).multiply(perMicro)) <= 0) {
                return new Step<>(null, cost);
            }
            long part = after.mod(perMicro).longValueExact();
            long whole = after.subtract(big(part)).divide(perMicro).longValueExact();
            return new Step<>(new ExactMicros(whole, part, interval.perMicro), cost);
        }

        @Override
        public Boolean read(Step<ExactMicros> step, long nowMicros) {
            return step.granted() > 0;
        }

        /* refund: L, cost·T. A cost whose span is beyond 2^53 takes everything back all the same. */
        @Override
        public Program<Boolean> program() {
            BigInteger[] span = interval.ticksOf(cost).divideAndRemainder(big(interval.perMicro));
            long whole = Math.min(Exact.MAX_MS, Exact.saturate(span[0]));
            return Script.of(
                    "gcra",
                    "refund",
                    List.of(interval.perMicro, whole, span[1].longValueExact()),
                    reply -> reply.get(0) > 0);
        }
    }

    private final class Codec implements StateCodec<ExactMicros> {
        @Override
        public String kind() {
            return "gcra";
        }

        @Override
        public byte[] encode(ExactMicros state) {
            return Text.of(state.whole(), state.part(), state.of());
        }

        @Override
        public ExactMicros decode(byte[] bytes) {
            long[] numbers = Text.numbers(bytes, 3);
            return new ExactMicros(numbers[0], numbers[1], numbers[2]);
        }

        @Override
        public long expiresAt(ExactMicros state) {
            return state.ceil();
        }

        @Override
        public long remaining(ExactMicros state, long nowMicros) {
            return available(tat(state, nowMicros), nowMicros);
        }
    }
}
