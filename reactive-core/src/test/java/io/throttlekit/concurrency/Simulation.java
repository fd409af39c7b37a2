package io.throttlekit.concurrency;

import io.throttlekit.ManualClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * A server that works on some requests at a time and queues the rest, under a Poisson stream of requests, in
 * virtual time. The same seed gives the same run.
 */
final class Simulation {
    /** What admits requests: a guard, or something to compare it with. */
    interface Ceiling {
        /** What to run when the admitted request is done, or null if it is refused. */
        @Nullable
        Runnable admit();

        int limit();

        static Ceiling of(ConcurrencyGuard guard) {
            return new Ceiling() {
                @Override
                public @Nullable Runnable admit() {
                    Lease lease = guard.acquire();
                    return lease.ok() ? lease::release : null;
                }

                @Override
                public int limit() {
                    return guard.limit();
                }
            };
        }

        static Ceiling of(PlainGradient2 law, ManualClock clock) {
            return new Ceiling() {
                private int inFlight;

                @Override
                public @Nullable Runnable admit() {
                    if (inFlight >= law.limit()) {
                        return null;
                    }
                    int then = ++inFlight;
                    long start = clock.monotonicNanos();
                    return () -> {
                        inFlight--;
                        law.succeeded(clock.monotonicNanos() - start, then);
                    };
                }

                @Override
                public int limit() {
                    return law.limit();
                }
            };
        }
    }

    /** The limit, and how many requests were done since the point before. */
    record Point(long millis, int limit, int done) {}

    private record Event(long micros, long order, Runnable action) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            return micros != other.micros ? Long.compare(micros, other.micros) : Long.compare(order, other.order);
        }
    }

    /** How long a request is worked on, by the time it begins, before the noise. */
    interface Service {
        double micros(long nowMicros);
    }

    private final Random random;
    private final ManualClock clock;
    private final Ceiling ceiling;
    private final int capacity;
    private final Service service;
    private final double noise;
    private final double arrivalsPerMicro;

    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private final List<Point> points = new ArrayList<>();
    private long order;
    private long now;
    private int working;
    private int done;

    /** Noise of 0 is a fixed service time, 0.1 is plus or minus a tenth, 1 is an exponential one. */
    Simulation(
            long seed,
            ManualClock clock,
            Ceiling ceiling,
            int capacity,
            Service service,
            double noise,
            double arrivalsPerMicro) {
        this.random = new Random(seed);
        this.clock = clock;
        this.ceiling = ceiling;
        this.capacity = capacity;
        this.service = service;
        this.noise = noise;
        this.arrivalsPerMicro = arrivalsPerMicro;
    }

    /** Runs from time zero and returns a point for each ten milliseconds. */
    List<Point> run(Duration length) {
        at(0, this::arrive);
        at(10_000, this::note);
        long end = length.toNanos() / 1000;
        while (!events.isEmpty() && events.element().micros <= end) {
            Event next = events.remove();
            clock.advance(Duration.ofNanos((next.micros - now) * 1000));
            now = next.micros;
            next.action.run();
        }
        return points;
    }

    private void at(long micros, Runnable action) {
        events.add(new Event(micros, order++, action));
    }

    private double exponential() {
        return -StrictMath.log(1 - random.nextDouble());
    }

    private void note() {
        points.add(new Point(now / 1000, ceiling.limit(), done));
        done = 0;
        at(now + 10_000, this::note);
    }

    private void arrive() {
        at(now + 1 + (long) (exponential() / arrivalsPerMicro), this::arrive);
        Runnable finish = ceiling.admit();
        if (finish == null) {
            return;
        }
        if (working < capacity) {
            work(finish);
        } else {
            waiting.add(finish);
        }
    }

    private void work(Runnable finish) {
        working++;
        double factor = noise == 1 ? exponential() : 1 + noise * (2 * random.nextDouble() - 1);
        at(now + Math.max(1, (long) (service.micros(now) * factor)), () -> {
            working--;
            finish.run();
            done++;
            Runnable next = waiting.poll();
            if (next != null) {
                work(next);
            }
        });
    }
}
