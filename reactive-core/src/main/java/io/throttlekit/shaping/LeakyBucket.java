package io.throttlekit.shaping;

import io.throttlekit.Clock;
import io.throttlekit.Store;
import io.throttlekit.store.MemoryStore;
import io.throttlekit.strategy.DepartureLine;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Makes shapers that let units depart one by one at a constant rate.
 *
 * <pre>{@code
 * LeakyBucket.of(5, Duration.ofSeconds(1)).maxQueue(Duration.ofSeconds(2)).build();
 * LeakyBucket.perSecond(0.5).maxQueue(Duration.ZERO).store(redis).prefix("crawler").build();
 * }</pre>
 */
public final class LeakyBucket {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private LeakyBucket() {}

    /**
     * A rate as a count per period.
     *
     * @param rate units per period, at least 1
     * @param period whole microseconds, more than 0
     * @return the options
     * @throws IllegalArgumentException if a value is out of range or cannot be kept exact
     */
    public static Builder of(long rate, Duration period) {
        return of(BigDecimal.valueOf(rate), period);
    }

    /**
     * A rate that is a decimal, taken exactly as it is written.
     *
     * @param rate units per period, more than 0
     * @param period whole microseconds, more than 0
     * @return the options
     * @throws IllegalArgumentException if a value is out of range or cannot be kept exact
     */
    public static Builder of(BigDecimal rate, Duration period) {
        return new Builder(DepartureLine.of(rate, period));
    }

    /**
     * A rate per second, taken as the decimal it is written as: 0.1 is one per ten seconds.
     *
     * @param rate units per second, more than 0
     * @return the options
     * @throws IllegalArgumentException if the rate is out of range or cannot be kept exact
     */
    public static Builder perSecond(double rate) {
        if (!Double.isFinite(rate)) {
            throw new IllegalArgumentException("rate must be a finite number, was " + rate);
        }
        return of(BigDecimal.valueOf(rate), SECOND);
    }

    /** The options of a {@link Shaper}. */
    public static final class Builder {
        private static final Pattern PREFIX = Pattern.compile("[A-Za-z0-9_.-]+");

        private final DepartureLine rate;
        private @Nullable Duration maxQueue;
        private @Nullable Store store;
        private @Nullable Clock clock;
        private @Nullable Scheduler scheduler;
        private String prefix = "";

        private Builder(DepartureLine rate) {
            this.rate = rate;
        }

        /**
         * The longest wait for a departure; it must be given. Who would have to wait longer is rejected.
         *
         * @param maxQueue whole microseconds; with zero nobody waits, and a unit departs at once or not at all
         * @return this
         */
        public Builder maxQueue(Duration maxQueue) {
            this.maxQueue = Objects.requireNonNull(maxQueue, "maxQueue");
            return this;
        }

        /**
         * Where the lines are kept; a new {@link MemoryStore} by default. The shaper does not close it.
         *
         * @param store the store
         * @return this
         */
        public Builder store(Store store) {
            this.store = Objects.requireNonNull(store, "store");
            return this;
        }

        /**
         * The clock of the default store; the scheduler's time by default, so that virtual time moves both. A
         * store that is given has its own clock.
         *
         * @param clock the clock
         * @return this
         */
        public Builder clock(Clock clock) {
            this.clock = Objects.requireNonNull(clock, "clock");
            return this;
        }

        /**
         * Where waits end; by default {@code Schedulers.parallel()}, as it is when somebody subscribes. The shaper
         * does not dispose it.
         *
         * @param scheduler a scheduler that can delay
         * @return this
         */
        public Builder scheduler(Scheduler scheduler) {
            this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
            return this;
        }

        /**
         * Keeps this shaper's keys apart from those of others over the same store, as {@code prefix:key}. Without
         * a prefix the store sees the bare key.
         *
         * @param prefix {@code [A-Za-z0-9_.-]+}
         * @return this
         * @throws IllegalArgumentException if it does not match
         */
        public Builder prefix(String prefix) {
            if (!PREFIX.matcher(prefix).matches()) {
                throw new IllegalArgumentException("prefix must match " + PREFIX + ", was \"" + prefix + "\"");
            }
            this.prefix = prefix + ":";
            return this;
        }

        /**
         * The shaper.
         *
         * @return a new shaper
         * @throws IllegalStateException if {@code maxQueue} is missing, or both a store and a clock were given
         * @throws IllegalArgumentException if {@code maxQueue} is negative, finer than a microsecond or longer than
         *     142 years together with one interval
         */
        public Shaper build() {
            if (maxQueue == null) {
                throw new IllegalStateException("maxQueue must be given; zero lets nobody wait");
            }
            if (store != null && clock != null) {
                throw new IllegalStateException("a store that is given has its own clock: give the clock to the store");
            }
            DepartureLine line = rate.withMaxQueue(maxQueue);
            Scheduler given = scheduler;
            Supplier<Scheduler> timers = given == null ? Schedulers::parallel : () -> given;
            if (store != null) {
                return new StoreShaper(line, store, prefix, timers, false);
            }
            Clock time = clock != null ? clock : given != null ? Clock.of(given) : new ParallelClock();
            return new StoreShaper(line, MemoryStore.builder().clock(time).build(), prefix, timers, true);
        }
    }
}
