package io.throttlekit.concurrency;

import io.throttlekit.Clock;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Builds guards whose limit on requests in flight finds itself, from how long the requests take.
 *
 * <pre>{@code
 * ConcurrencyGuard guard = AdaptiveConcurrency.gradient2().minLimit(4).maxLimit(512).build();
 * mono.transform(guard.protect());
 * }</pre>
 *
 * <p>While requests take as long as they do on an idle server, and at least half of the limit is in use, the
 * limit grows. Once they take longer and asking for less makes them faster, they were queueing, and the limit
 * comes down to what the server can work on at a time and a few more. A server that has become slower is not
 * asked for less.
 *
 * <p>{@link #gradient2} and {@link #aimd} differ in how far they move. The first is right for most: it grows by
 * √limit per round trip and shrinks by as much as the queue is long. The second grows by one and shrinks by a
 * ratio, and so changes more slowly and saws more.
 */
public final class AdaptiveConcurrency {
    /** The highest limit there can be. */
    public static final int HIGHEST_LIMIT = 1_000_000;

    private AdaptiveConcurrency() {}

    /**
     * The gradient law: {@code limit · noLoadRtt / rtt + √limit}, smoothed.
     *
     * @return the options of a guard
     */
    public static Builder gradient2() {
        return new Builder(true);
    }

    /**
     * Additive increase, multiplicative decrease.
     *
     * @return the options of a guard
     */
    public static Builder aimd() {
        return new Builder(false);
    }

    /** The options of a {@link ConcurrencyGuard}. */
    public static final class Builder {
        private final boolean gradient2;
        private int minLimit = 4;
        private int maxLimit = 512;
        private @Nullable Integer initialLimit;
        private int rttWindow = 100;
        private double smoothing = 0.2;
        private double tolerance = 2;
        private double backoffRatio = 0.9;
        private Predicate<? super Throwable> drop = error -> error instanceof TimeoutException;
        private Clock clock = Clock.system();

        private Builder(boolean gradient2) {
            this.gradient2 = gradient2;
        }

        /**
         * What the limit never falls below; 4 by default.
         *
         * @param minLimit at least 1
         * @return this
         */
        public Builder minLimit(int minLimit) {
            this.minLimit = inRange("minLimit", minLimit, 1, HIGHEST_LIMIT);
            return this;
        }

        /**
         * What the limit never exceeds; 512 by default.
         *
         * @param maxLimit not below the least limit, and at most {@link #HIGHEST_LIMIT}
         * @return this
         */
        public Builder maxLimit(int maxLimit) {
            this.maxLimit = inRange("maxLimit", maxLimit, 1, HIGHEST_LIMIT);
            return this;
        }

        /**
         * Where the limit starts; at {@code minLimit} by default. To start above the server's capacity costs a
         * few windows, since the first RTT measured is taken for that of an idle server.
         *
         * @param initialLimit {@code minLimit} to {@code maxLimit}
         * @return this
         */
        public Builder initialLimit(int initialLimit) {
            this.initialLimit = inRange("initialLimit", initialLimit, 1, HIGHEST_LIMIT);
            return this;
        }

        /**
         * After how many samples a no-load RTT that requests no longer reach has to be measured anew; 100 by
         * default, and never less than ten times the limit. For that the limit is lowered by a fifth for about
         * two round trips.
         *
         * @param rttWindow 10 to 1,000,000 samples
         * @return this
         */
        public Builder rttWindow(int rttWindow) {
            this.rttWindow = inRange("rttWindow", rttWindow, 10, 1_000_000);
            return this;
        }

        /**
         * How far one sample moves the limit towards where the law wants it; 0.2 by default.
         *
         * @param smoothing above 0, at most 1
         * @return this
         * @throws IllegalStateException if the law is not {@link #gradient2}
         */
        public Builder smoothing(double smoothing) {
            if (!gradient2) {
                throw new IllegalStateException("smoothing is an option of gradient2 only");
            }
            if (!(smoothing > 0 && smoothing <= 1)) {
                throw new IllegalArgumentException("smoothing must be above 0 and at most 1, was " + smoothing);
            }
            this.smoothing = smoothing;
            return this;
        }

        /**
         * How many times the no-load RTT is too long in any case, however much RTTs vary; 2 by default. An RTT
         * that is longer by less counts as longer when it is so by more than chance.
         *
         * @param tolerance 1 to 100
         * @return this
         */
        public Builder tolerance(double tolerance) {
            if (!(tolerance >= 1 && tolerance <= 100)) {
                throw new IllegalArgumentException("tolerance must be 1 to 100, was " + tolerance);
            }
            this.tolerance = tolerance;
            return this;
        }

        /**
         * What the limit is multiplied by when it is too high; 0.9 by default.
         *
         * @param backoffRatio at least 0.5, below 1
         * @return this
         * @throws IllegalStateException if the law is not {@link #aimd}
         */
        public Builder backoffRatio(double backoffRatio) {
            if (gradient2) {
                throw new IllegalStateException("backoffRatio is an option of aimd only");
            }
            if (!(backoffRatio >= 0.5 && backoffRatio < 1)) {
                throw new IllegalArgumentException(
                        "backoffRatio must be at least 0.5 and below 1, was " + backoffRatio);
            }
            this.backoffRatio = backoffRatio;
            return this;
        }

        /**
         * Which errors are drops, besides {@link TimeoutException}: those that mean that the server has too much
         * to do. A drop lowers the limit; any other error frees its place and says nothing.
         *
         * @param drop the predicate; runs on the thread that signals the error
         * @return this
         */
        public Builder dropWhen(Predicate<? super Throwable> drop) {
            Objects.requireNonNull(drop, "drop");
            this.drop = error -> error instanceof TimeoutException || drop.test(error);
            return this;
        }

        /**
         * What RTTs are measured with; the system's clock by default.
         *
         * @param clock the clock; its monotonic reading is used
         * @return this
         */
        public Builder clock(Clock clock) {
            this.clock = Objects.requireNonNull(clock, "clock");
            return this;
        }

        /**
         * The guard.
         *
         * @return a new guard
         * @throws IllegalArgumentException if {@code minLimit}, {@code initialLimit} and {@code maxLimit} are
         *     not in this order
         */
        public ConcurrencyGuard build() {
            if (maxLimit < minLimit) {
                throw new IllegalArgumentException(
                        "maxLimit must be at least minLimit (" + minLimit + "), was " + maxLimit);
            }
            int initial = initialLimit == null ? minLimit : inRange("initialLimit", initialLimit, minLimit, maxLimit);
            Law law = gradient2 ? new Gradient2(smoothing) : new Aimd(backoffRatio);
            return new ConcurrencyGuard(
                    new LimitControl(law, minLimit, maxLimit, initial, rttWindow, tolerance), drop, clock);
        }

        private static int inRange(String name, int value, int least, int most) {
            if (value < least || value > most) {
                throw new IllegalArgumentException(name + " must be " + least + " to " + most + ", was " + value);
            }
            return value;
        }
    }
}
