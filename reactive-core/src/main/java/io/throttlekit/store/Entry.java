package io.throttlekit.store;

import io.throttlekit.ScalarTransform;
import io.throttlekit.StateCodec;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/** What the store holds for a key. A dead entry has left the map for good: who finds one starts again. */
abstract sealed class Entry extends Wheel.Link {
    final String key;
    final StateCodec<?> codec;
    /** Place among the candidates for eviction, guarded by the keeper. */
    int place = -1;

    private Entry(String key, StateCodec<?> codec) {
        this.key = key;
        this.codec = codec;
    }

    /** When an entry without state expires: long ago. */
    private static final long LONG_AGO = Long.MIN_VALUE / 2;

    /** The first instant at which the entry may be forgotten, epoch micros. */
    abstract long expiresAt();

    /** Units that could be granted: the more, the less is lost by forgetting the key. */
    abstract long remaining(long nowMicros);

    /** Ends the entry; no update succeeds afterwards. */
    abstract void kill();

    /** Ends the entry if it has expired, and tells whether it did. */
    abstract boolean killIfExpired(long nowMicros);

    /** An instant in ticks, changed by compare-and-set. */
    static final class Cell extends Entry {
        static final long DEAD = Long.MIN_VALUE;

        private static final VarHandle TICKS;

        static {
            try {
                TICKS = MethodHandles.lookup().findVarHandle(Cell.class, "ticks", long.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        /** The transform that made the entry: it knows the unit and the kind. */
        final ScalarTransform<?, ?> made;

        private final long originMicros;
        private volatile long ticks;

        Cell(String key, ScalarTransform<?, ?> made, long originMicros, long ticks) {
            super(key, made.codec());
            this.made = made;
            this.originMicros = originMicros;
            this.ticks = ticks;
        }

        long ticks() {
            return ticks;
        }

        /** Returns {@code before} when it was replaced, else what stands there instead. */
        long replace(long before, long after) {
            return (long) TICKS.compareAndExchange(this, before, after);
        }

        /** Ends the entry and returns its last instant. */
        long take() {
            return (long) TICKS.getAndSet(this, DEAD);
        }

        @Override
        long expiresAt() {
            return expiresAt(ticks);
        }

        private long expiresAt(long at) {
            return at <= ScalarTransform.ABSENT ? LONG_AGO : originMicros - Math.floorDiv(-at, made.ticksPerMicro());
        }

        @Override
        long remaining(long nowMicros) {
            long at = ticks;
            if (expiresAt(at) <= nowMicros) {
                return Long.MAX_VALUE;
            }
            return made.remainingTicks(at, (nowMicros - originMicros) * made.ticksPerMicro());
        }

        @Override
        void kill() {
            ticks = DEAD;
        }

        @Override
        boolean killIfExpired(long nowMicros) {
            long at = ticks;
            return expiresAt(at) <= nowMicros && replace(at, DEAD) == at;
        }
    }

    /** A state object, changed in a short critical section of its own. */
    static final class Section extends Entry {
        /** Guarded by this; null means no state. */
        private @Nullable Object state;

        private boolean dead;

        Section(String key, StateCodec<?> codec, @Nullable Object state) {
            super(key, codec);
            this.state = state;
        }

        /** Call with the monitor held. */
        @Nullable
        Object state() {
            return state;
        }

        /** Call with the monitor held. */
        void state(@Nullable Object state) {
            this.state = state;
        }

        /** Call with the monitor held. */
        boolean dead() {
            return dead;
        }

        @SuppressWarnings("unchecked")
        private static <S> StateCodec<S> typed(StateCodec<?> codec) {
            // The entry is only ever given states of its codec's kind.
            return (StateCodec<S>) codec;
        }

        @Override
        synchronized long expiresAt() {
            return state == null ? LONG_AGO : typed(codec).expiresAt(state);
        }

        @Override
        synchronized long remaining(long nowMicros) {
            return state == null || typed(codec).expiresAt(state) <= nowMicros
                    ? Long.MAX_VALUE
                    : typed(codec).remaining(state, nowMicros);
        }

        @Override
        synchronized void kill() {
            dead = true;
        }

        @Override
        synchronized boolean killIfExpired(long nowMicros) {
            dead = expiresAt() <= nowMicros;
            return dead;
        }
    }
}
