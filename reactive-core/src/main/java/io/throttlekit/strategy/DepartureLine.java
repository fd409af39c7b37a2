package io.throttlekit.strategy;

import static io.throttlekit.strategy.Exact.big;

import io.throttlekit.ExactMicros;
import io.throttlekit.Program;
import io.throttlekit.ScalarTransform;
import io.throttlekit.StateCodec;
import io.throttlekit.Step;
import io.throttlekit.Strategy;
import io.throttlekit.Transform;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The leaky bucket as a queue: units depart one by one at a constant rate, and whoever comes is told when.
 *
 * <p>It is no {@link Strategy}, since it answers with a time and not with yes or no; a
 * {@code io.throttlekit.shaping.Shaper} does the waiting. Nothing is saved up while the line is idle, so there
 * are no bursts: that is what sets it apart from {@link Gcra}, whose arithmetic it shares. Immutable. Source:
 * J. Turner, New Directions in Communications, 1986.
 */
public final class DepartureLine {
    /*
     * The state is the end of the line: the instant at which the next unit may depart. A reservation departs at
     * max(end, now) and moves the end by cost·T. So an accepted one is the last in line exactly while the end
     * still is departure + cost·T, and giving it back moves the end to its departure: one comparison tells, in
     * one atomic step, and no list of the waiting is kept anywhere.
     *
     * As with Gcra there are three writings: `next` in ticks of 1/L microseconds since the store's origin, `step`
     * in whole microseconds and a fraction, and the scripts.
     */
    private static final String PROGRAM = "leaky_bucket";
    private static final long MAX_CELL_DENOMINATOR = 4096;
    /** A queue and a cost together, in ticks, so that no sum of ticks overflows. */
    private static final long MAX_CELL_TICKS = 1L << 60;

    private final BigDecimal rate;
    private final long periodMicros;
    private final long queueMicros;
    private final Interval interval;
    /** Ticks of the queue, or -1 when the end of the line does not fit a long of ticks. */
    private final long queueTicks;

    private final Codec codec = new Codec();
    private final Reserve one;

    private DepartureLine(BigDecimal rate, long periodMicros, long queueMicros) {
        this.rate = rate;
        this.periodMicros = periodMicros;
        this.queueMicros = queueMicros;
        this.interval = Interval.of("rate", rate, periodMicros, "cost", 1);
        BigInteger ticks = big(queueMicros).multiply(big(interval.perMicro));
        boolean cell = interval.perMicro <= MAX_CELL_DENOMINATOR && ticks.compareTo(big(MAX_CELL_TICKS)) <= 0;
        this.queueTicks = cell ? ticks.longValueExact() : -1;
        this.one = new Reserve(1, span(1));
        Script.load(PROGRAM);
    }

    /**
     * A line that lets {@code rate} units depart per {@code period}, and in which nobody may wait.
     *
     * @param rate units per period, more than 0, taken exactly as it is written
     * @param period whole microseconds, more than 0
     * @return the line
     * @throws IllegalArgumentException if a value is out of range or cannot be kept exact
     */
    public static DepartureLine of(BigDecimal rate, Duration period) {
        return new DepartureLine(Exact.positive("rate", rate), Exact.periodMicros("period", period), 0);
    }

    /**
     * The same rate with another longest wait.
     *
     * @param maxQueue whole microseconds, zero or more
     * @return a new line
     * @throws IllegalArgumentException if the value is out of range
     */
    public DepartureLine withMaxQueue(Duration maxQueue) {
        if (maxQueue.isNegative()) {
            throw new IllegalArgumentException("maxQueue must be at least 0, was " + maxQueue);
        }
        long micros = maxQueue.isZero() ? 0 : Exact.periodMicros("maxQueue", maxQueue);
        return new DepartureLine(rate, periodMicros, micros);
    }

    /**
     * Takes the next place in the line, if the wait for it is at most {@code maxQueue}.
     *
     * @param cost how many units depart together, 1 to 2<sup>53</sup>&nbsp;&minus;&nbsp;1
     * @return a transform that changes nothing when it does not accept
     * @throws IllegalArgumentException if the cost is out of range, or takes so long to depart that this
     *     cannot be kept exact: more than 142 years together with {@code maxQueue}
     */
    public Transform<ExactMicros, Departure> reserve(long cost) {
        if (cost == 1) {
            return one;
        }
        Exact.cost(cost);
        return new Reserve(cost, span(cost));
    }

    /**
     * Gives a place back, before its departure and only while it is the last in line.
     *
     * <p>It is for whoever calls it to do this once: a later place at the same instant looks the same.
     *
     * @param departure what this line answered
     * @return a transform that answers whether the place was given back, and changes nothing if not
     */
    public Transform<ExactMicros, Boolean> cancel(Departure departure) {
        return new Cancel(departure, span(departure.cost()));
    }

    /** Whole microseconds and ticks of {@code cost·T}. */
    private record Span(long whole, long part) {}

    private Span span(long cost) {
        BigInteger[] span = interval.ticksOf(cost).divideAndRemainder(big(interval.perMicro));
        if (span[0].add(big(queueMicros)).compareTo(big(Exact.MAX_SPAN_MICROS)) > 0) {
            throw new IllegalArgumentException("cost " + cost + " at " + rate.toPlainString() + " per " + periodMicros
                    + " us, after a queue of " + queueMicros + " us, spans more than " + Exact.MAX_SPAN_MICROS
                    + " us (142 years)");
        }
        return new Span(span[0].longValueExact(), span[1].longValueExact());
    }

    private ExactMicros plus(long whole, long part, Span span) {
        long parts = part + span.part;
        long carry = parts >= interval.perMicro ? 1 : 0;
        return new ExactMicros(
                Math.addExact(whole, span.whole + carry), parts - carry * interval.perMicro, interval.perMicro);
    }

    /** The end of the line over this rate's denominator; now when there is none or it has passed. */
    private ExactMicros end(@Nullable ExactMicros state, long nowMicros) {
        ExactMicros end = state == null ? null : state.over(interval.perMicro);
        return end == null || end.whole() < nowMicros ? new ExactMicros(nowMicros, 0, interval.perMicro) : end;
    }

    private boolean hasRoom(long aheadWhole, long aheadPart) {
        return aheadWhole < queueMicros || (aheadWhole == queueMicros && aheadPart == 0);
    }

    /** The answer when the departure is {@code aheadWhole} microseconds and {@code aheadPart} ticks after now. */
    private Departure answer(boolean accepted, long cost, long nowMicros, long aheadWhole, long aheadPart) {
        long ahead = aheadPart == 0 ? aheadWhole : aheadWhole + 1;
        return new Departure(
                accepted,
                cost,
                nowMicros,
                Math.addExact(nowMicros, aheadWhole),
                aheadPart,
                interval.perMicro,
                accepted ? ahead : ahead - queueMicros);
    }

    private abstract class Cell<R> extends ScalarTransform<ExactMicros, R> {
        Cell(boolean fits) {
            super(codec, fits ? interval.perMicro : 0);
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
            long room = queueTicks - Math.max(0, ticks - now);
            return room < 0 ? 0 : room / interval.ticks + 1;
        }
    }

    private boolean fitsCell(Span span) {
        long most = MAX_CELL_TICKS / interval.perMicro;
        return queueTicks >= 0 && span.whole < most && queueTicks <= MAX_CELL_TICKS - ticksOf(span);
    }

    private long ticksOf(Span span) {
        return span.whole * interval.perMicro + span.part;
    }

    private final class Reserve extends Cell<Departure> {
        private final long cost;
        private final Span span;
        private final long ticks;

        Reserve(long cost, Span span) {
            super(fitsCell(span));
            this.cost = cost;
            this.span = span;
            this.ticks = ticksPerMicro() == 0 ? 0 : ticksOf(span);
        }

        @Override
        public long next(long before, long now, long nowMicros) {
            long departure = Math.max(before, now);
            return departure - now > queueTicks ? before : departure + ticks;
        }

        @Override
        public Departure readTicks(long before, long after, long now, long nowMicros) {
            long ahead = Math.max(0, before - now);
            long whole = ahead == 0 ? 0 : ahead / interval.perMicro;
            return answer(after != before, cost, nowMicros, whole, ahead - whole * interval.perMicro);
        }

        @Override
        public Step<ExactMicros> step(@Nullable ExactMicros before, long nowMicros) {
            ExactMicros departure = end(before, nowMicros);
            if (!hasRoom(Math.subtractExact(departure.whole(), nowMicros), departure.part())) {
                return new Step<>(before, 0);
            }
            return new Step<>(plus(departure.whole(), departure.part(), span), cost);
        }

        @Override
        public Departure read(Step<ExactMicros> step, long nowMicros) {
            ExactMicros end = end(step.state(), nowMicros);
            long whole = Math.subtractExact(end.whole(), nowMicros);
            if (step.granted() == 0) {
                return answer(false, cost, nowMicros, whole, end.part());
            }
            long part = end.part() - span.part;
            long borrow = part < 0 ? 1 : 0;
            return answer(true, cost, nowMicros, whole - span.whole - borrow, part + borrow * interval.perMicro);
        }

        /*
         * reserve: L, the longest wait in whole microseconds, cost, then cost·T as whole microseconds and ticks.
         * Replies granted (the cost, or 0), now, the departure (whole microseconds, ticks): the end of the line
         * before the step, now when it is absent.
         */
        @Override
        public Program<Departure> program() {
            return Script.of(
                    PROGRAM,
                    "reserve",
                    List.of(interval.perMicro, queueMicros, cost, span.whole, span.part),
                    reply -> answer(reply.get(0) > 0, cost, reply.get(1), reply.get(2) - reply.get(1), reply.get(3)));
        }
    }

    private final class Cancel extends Cell<Boolean> {
        /** Further than this from now no cell's instant is. */
        private static final long FAR_TICKS = 5 * MAX_CELL_TICKS;

        private final Departure departure;
        private final Span span;
        private final ExactMicros tail;

        Cancel(Departure departure, Span span) {
            super(fitsCell(span));
            this.departure = departure;
            this.span = span;
            this.tail = plus(departure.whole(), departure.part(), span);
        }

        private boolean hasDeparted(long nowMicros) {
            return !departure.accepted()
                    || departure.whole() < nowMicros
                    || (departure.whole() == nowMicros && departure.part() == 0);
        }

        @Override
        public long next(long before, long now, long nowMicros) {
            long ahead = tail.whole() - nowMicros;
            if (hasDeparted(nowMicros) || ahead < 0 || ahead > FAR_TICKS / interval.perMicro - 1) {
                return before;
            }
            long end = now + ahead * interval.perMicro + tail.part();
            return before == end ? end - ticksOf(span) : before;
        }

        @Override
        public Boolean readTicks(long before, long after, long now, long nowMicros) {
            return after != before;
        }

        @Override
        public Step<ExactMicros> step(@Nullable ExactMicros before, long nowMicros) {
            if (before == null
                    || hasDeparted(nowMicros)
                    || !before.over(interval.perMicro).equals(tail)) {
                return new Step<>(before, 0);
            }
            return new Step<>(departure.at(), departure.cost());
        }

        @Override
        public Boolean read(Step<ExactMicros> step, long nowMicros) {
            return step.granted() > 0;
        }

        /*
         * cancel: L, the departure, then the end of the line as it is while the departure is the last: each as
         * whole microseconds and ticks. Replies granted (1 when it was given back), now, the end of the line
         * after the step (now when absent).
         */
        @Override
        public Program<Boolean> program() {
            return Script.of(
                    PROGRAM,
                    "cancel",
                    List.of(interval.perMicro, departure.whole(), departure.part(), tail.whole(), tail.part()),
                    reply -> reply.get(0) > 0);
        }
    }

    private final class Codec implements StateCodec<ExactMicros> {
        @Override
        public String kind() {
            return "leakyBucket";
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
            ExactMicros end = end(state, nowMicros);
            long ahead = Math.subtractExact(end.whole(), nowMicros);
            if (!hasRoom(ahead, end.part())) {
                return 0;
            }
            boolean borrow = end.part() > 0;
            return interval.unitsIn(queueMicros - ahead - (borrow ? 1 : 0), borrow ? interval.perMicro - end.part() : 0)
                    + 1;
        }
    }
}
