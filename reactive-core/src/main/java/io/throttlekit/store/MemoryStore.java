package io.throttlekit.store;

import io.throttlekit.Clock;
import io.throttlekit.ScalarTransform;
import io.throttlekit.StateCodec;
import io.throttlekit.StateMismatchException;
import io.throttlekit.Step;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.SyncStore;
import io.throttlekit.Transform;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Keeps keys in this process: the fastest store, exact among the threads of one node.
 *
 * <p>Every call answers on the caller's thread. A {@code Mono} from this store is a {@code Callable}, so
 * that operators fuse with it, and applies when it is requested.
 *
 * <p><b>Bounds.</b> At most {@code maxKeys} keys are kept (100,000 by default). To make room, a few keys are
 * drawn at random and the one with the most units remaining is forgotten, because it loses the least: a
 * flood of made-up keys does not wash away a key that is over its limit. This cannot help where every key
 * that was used has nothing remaining, as with a burst of 1, or where the flood exhausts each of its keys.
 *
 * <p><b>Expiry.</b> An expired key is as good as none at once. Its memory is freed by a daemon thread every
 * {@code sweepInterval}; the thread exists only while there are keys, and goes when the store is no longer
 * referenced.
 */
public final class MemoryStore implements SyncStore {
    private final Clock clock;
    private final @Nullable CoarseClock coarse;
    private final long originMicros;
    /** The tests of this package drive sweeps through it. */
    final Keeper keeper;

    private final Sweeper sweeper;
    private volatile boolean closed;

    private MemoryStore(Builder options) {
        this.coarse = options.coarseClock ? new CoarseClock(options.clock) : null;
        this.clock = coarse == null ? options.clock : coarse;
        this.originMicros = clock.epochMicros();
        Wheel wheel = new Wheel(options.wheelTick.toNanos() / 1000, options.wheelSlots, originMicros);
        this.keeper = new Keeper(wheel, options.maxKeys);
        this.sweeper = new Sweeper(keeper, clock, options.sweepInterval);
    }

    /**
     * A store with the default options.
     *
     * @return a new store
     */
    public static MemoryStore create() {
        return builder().build();
    }

    /**
     * The options, each with its default.
     *
     * @return a new builder
     */
    public static Builder builder() {
        return new Builder();
    }

    @Override
    public long nowMicros() {
        return clock.epochMicros();
    }

    /**
     * Keys that take up memory now; some of them may have expired.
     *
     * @return at most {@code maxKeys}
     */
    public int size() {
        return keeper.count();
    }

    /** Looks the key up before it reads the clock, so that the lookup is over when the clock answers. */
    @Override
    public <S, R> R applySync(String key, Transform<S, R> transform) {
        if (closed) {
            throw closed();
        }
        Entry entry = keeper.get(key);
        long nowMicros = clock.epochMicros();
        R answer = apply(entry, key, transform, nowMicros);
        return answer != null ? answer : applySync(key, transform, nowMicros);
    }

    @Override
    public <S, R> R applySync(String key, Transform<S, R> transform, long nowMicros) {
        if (closed) {
            throw closed();
        }
        while (true) {
            R answer = apply(keeper.get(key), key, transform, nowMicros);
            if (answer != null) {
                return answer;
            }
            // The entry died, or another thread made one first. No onSpinWait here: BlockHound forbids it.
        }
    }

    /** Applies to the entry that was found; null when it is not the key's entry any more. */
    private <S, R> @Nullable R apply(@Nullable Entry entry, String key, Transform<S, R> transform, long nowMicros) {
        if (entry instanceof Entry.Cell cell) {
            return applyCell(cell, transform, nowMicros);
        }
        if (entry instanceof Entry.Section section) {
            return applySection(section, transform, nowMicros);
        }
        return applyAbsent(key, transform, nowMicros);
    }

    private <S, R> @Nullable R applyCell(Entry.Cell cell, Transform<S, R> transform, long nowMicros) {
        if (!(transform instanceof ScalarTransform<S, R> scalar)
                || !fits(cell, scalar)
                || !inRange(scalar, nowMicros)) {
            if (holdsKindOf(cell, transform, nowMicros)) {
                keeper.generalize(cell, originMicros);
            }
            return null;
        }
        long now = (nowMicros - originMicros) * scalar.ticksPerMicro();
        long before = cell.ticks();
        while (before != Entry.Cell.DEAD) {
            long after = scalar.next(before, now, nowMicros);
            long witness = after == before ? before : cell.replace(before, after);
            if (witness == before) {
                return scalar.readTicks(before, after, now, nowMicros);
            }
            before = witness;
        }
        return null;
    }

    private <S, R> @Nullable R applySection(Entry.Section section, Transform<S, R> transform, long nowMicros) {
        if (!holdsKindOf(section, transform, nowMicros)) {
            return null;
        }
        StateCodec<S> codec = transform.codec();
        synchronized (section) {
            if (section.dead()) {
                return null;
            }
            @SuppressWarnings("unchecked") // the kinds are equal, and a kind has one type of state
            S before = (S) section.state();
            if (before != null && codec.expiresAt(before) <= nowMicros) {
                before = null;
            }
            Step<S> step = transform.step(before, nowMicros);
            R answer = transform.read(step, nowMicros);
            if (step.state() != before) {
                section.state(step.state());
            }
            return answer;
        }
    }

    private <S, R> @Nullable R applyAbsent(String key, Transform<S, R> transform, long nowMicros) {
        Objects.requireNonNull(key, "key");
        if (transform instanceof ScalarTransform<S, R> scalar && inRange(scalar, nowMicros)) {
            long now = (nowMicros - originMicros) * scalar.ticksPerMicro();
            long after = scalar.next(ScalarTransform.ABSENT, now, nowMicros);
            R answer = scalar.readTicks(ScalarTransform.ABSENT, after, now, nowMicros);
            boolean done =
                    after == ScalarTransform.ABSENT || add(new Entry.Cell(key, scalar, originMicros, after), nowMicros);
            return done ? answer : null;
        }
        Step<S> step = transform.step(null, nowMicros);
        R answer = transform.read(step, nowMicros);
        boolean done = step.state() == null || add(new Entry.Section(key, transform.codec(), step.state()), nowMicros);
        return done ? answer : null;
    }

    private boolean add(Entry entry, long nowMicros) {
        boolean added = keeper.add(entry, nowMicros);
        if (added) {
            sweeper.wake();
        }
        return added;
    }

    /** Whether the cell's unit and kind are the transform's. */
    private static boolean fits(Entry.Cell cell, ScalarTransform<?, ?> transform) {
        StateCodec<?> codec = transform.codec();
        return cell.codec == codec
                || (cell.made.ticksPerMicro() == transform.ticksPerMicro()
                        && cell.codec.kind().equals(codec.kind()));
    }

    /** Whether now can be told in the transform's ticks since the origin. */
    private boolean inRange(ScalarTransform<?, ?> transform, long nowMicros) {
        long since = nowMicros - originMicros;
        boolean wrapped = ((nowMicros ^ originMicros) & (nowMicros ^ since)) < 0;
        long most = transform.maxMicros();
        return since <= most && since >= -most && !wrapped;
    }

    /** Whether the entry's state is of the transform's kind; if it is not but has expired, it is put away. */
    private boolean holdsKindOf(Entry entry, Transform<?, ?> transform, long nowMicros) {
        StateCodec<?> kept = entry.codec;
        StateCodec<?> wanted = transform.codec();
        if (kept == wanted || kept.kind().equals(wanted.kind())) {
            return true;
        }
        if (!keeper.removeIfExpired(entry, nowMicros)) {
            throw new StateMismatchException(
                    "a " + wanted.kind() + " limiter met a key of a " + kept.kind()
                            + " limiter: give each its own prefix",
                    null);
        }
        return false;
    }

    private static StoreUnavailableException closed() {
        return new StoreUnavailableException(Reason.CLOSED, false, "the memory store is closed", null);
    }

    @Override
    public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
        return ApplyMono.of(this, Objects.requireNonNull(key, "key"), Objects.requireNonNull(transform, "transform"));
    }

    @Override
    public void resetSync(String key) {
        if (closed) {
            throw closed();
        }
        keeper.remove(Objects.requireNonNull(key, "key"));
    }

    @Override
    public Mono<Void> reset(String key) {
        Objects.requireNonNull(key, "key");
        return Mono.fromRunnable(() -> resetSync(key));
    }

    @Override
    public Mono<Void> close() {
        return Mono.fromRunnable(() -> {
            closed = true;
            sweeper.stop();
            if (coarse != null) {
                coarse.stop();
            }
            keeper.clear();
        });
    }

    /** The options of a {@link MemoryStore}. */
    public static final class Builder {
        private Clock clock = Clock.system();
        private boolean coarseClock;
        private int maxKeys = 100_000;
        private Duration sweepInterval = Duration.ofSeconds(5);
        private Duration wheelTick = Duration.ofSeconds(1);
        private int wheelSlots = 512;

        private Builder() {}

        /**
         * Where the time comes from; the system's clock by default.
         *
         * @param clock the clock
         * @return this
         */
        public Builder clock(Clock clock) {
            this.clock = Objects.requireNonNull(clock, "clock");
            return this;
        }

        /**
         * Reads the clock once a millisecond, on a daemon thread of the store's, instead of at every check.
         *
         * <p>A check then costs a plain read where it would read the clock, which is most of its time. The
         * price: decisions are made with a time that is up to a millisecond old, and later when that thread
         * is held up by a busy machine or a pause of the JVM. Units come back that much later, never earlier.
         *
         * @return this
         */
        public Builder coarseClock() {
            this.coarseClock = true;
            return this;
        }

        /**
         * How many keys are kept at most; 100,000 by default.
         *
         * @param maxKeys at least 1
         * @return this
         * @throws IllegalArgumentException if it is less
         */
        public Builder maxKeys(int maxKeys) {
            if (maxKeys < 1) {
                throw new IllegalArgumentException("maxKeys must be at least 1, was " + maxKeys);
            }
            this.maxKeys = maxKeys;
            return this;
        }

        /**
         * Keeps every key until it expires. Only for keys that nobody outside can make up.
         *
         * @return this
         */
        public Builder unbounded() {
            this.maxKeys = 0;
            return this;
        }

        /**
         * How often the memory of expired keys is freed; 5 s by default.
         *
         * @param sweepInterval zero for never, else at least a millisecond
         * @return this
         * @throws IllegalArgumentException if it is negative or shorter
         */
        public Builder sweepInterval(Duration sweepInterval) {
            if (!sweepInterval.isZero() && sweepInterval.compareTo(Duration.ofMillis(1)) < 0) {
                throw new IllegalArgumentException("sweepInterval must be zero or at least 1 ms, was " + sweepInterval);
            }
            this.sweepInterval = sweepInterval;
            return this;
        }

        /**
         * The resolution of the expiry wheel; 1 s by default.
         *
         * @param wheelTick from a millisecond to a day
         * @return this
         * @throws IllegalArgumentException if it is out of range
         */
        public Builder wheelTick(Duration wheelTick) {
            if (wheelTick.compareTo(Duration.ofMillis(1)) < 0 || wheelTick.compareTo(Duration.ofDays(1)) > 0) {
                throw new IllegalArgumentException("wheelTick must be from 1 ms to 1 day, was " + wheelTick);
            }
            this.wheelTick = wheelTick;
            return this;
        }

        /**
         * The slots of the expiry wheel; 512 by default. A key that lives longer than all of them together is
         * looked at once per turn.
         *
         * @param wheelSlots from 2 to 65536
         * @return this
         * @throws IllegalArgumentException if it is out of range
         */
        public Builder wheelSlots(int wheelSlots) {
            if (wheelSlots < 2 || wheelSlots > 65_536) {
                throw new IllegalArgumentException("wheelSlots must be from 2 to 65536, was " + wheelSlots);
            }
            this.wheelSlots = wheelSlots;
            return this;
        }

        /**
         * The store. It starts nothing before its first key.
         *
         * @return a new store
         */
        public MemoryStore build() {
            return new MemoryStore(this);
        }
    }
}
