package io.throttlekit.examples;

import io.throttlekit.Clock;
import io.throttlekit.concurrency.AdaptiveConcurrency;
import io.throttlekit.concurrency.ConcurrencyGuard;
import io.throttlekit.concurrency.ConcurrencyLimitException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.test.scheduler.VirtualTimeScheduler;

/**
 * Ten seconds of twice the load that a backend can take, with and without a guard before it. The backend works on
 * 100 requests at a time, on each for 100 ms, and the rest wait in its queue.
 *
 * <p>It prints
 *
 * <pre>{@code
 * no guard:   20000 answered, the slowest after 10050 ms; 0 refused at once
 * with guard: 8801 answered, the slowest after 157 ms; 11199 refused at once
 * }</pre>
 *
 * <p>The time is virtual, so it does not take ten seconds and comes out the same everywhere. The guard knows
 * nothing of the backend but how long the calls take.
 */
public final class AdaptiveGuard {
    private static final Duration LOAD = Duration.ofSeconds(10);
    private static final Duration BETWEEN_CALLS = Duration.ofNanos(500_000);
    private static final long WORK_MILLIS = 100;
    private static final int AT_A_TIME = 100;

    private final Scheduler scheduler;
    /** When each of the backend's workers is done with what it has. */
    private final Queue<Long> workers = new PriorityQueue<>();

    private long answered;
    private long refused;
    private long slowestMillis;

    private AdaptiveGuard(Scheduler scheduler) {
        this.scheduler = scheduler;
        for (int i = 0; i < AT_A_TIME; i++) {
            workers.add(0L);
        }
    }

    /**
     * Runs once and ends.
     *
     * @param args none
     */
    public static void main(String[] args) {
        run(System.out);
    }

    static void run(PrintStream out) {
        VirtualTimeScheduler alone = VirtualTimeScheduler.create();
        out.println("no guard:   " + new AdaptiveGuard(alone).load(alone, call -> call));

        VirtualTimeScheduler guarded = VirtualTimeScheduler.create();
        ConcurrencyGuard guard = AdaptiveConcurrency.gradient2()
                .initialLimit(20)
                .clock(Clock.of(guarded))
                .build();
        out.println("with guard: " + new AdaptiveGuard(guarded).load(guarded, guard.protect()));
    }

    private String load(VirtualTimeScheduler time, UnaryOperator<Publisher<Long>> guard) {
        Flux.interval(BETWEEN_CALLS, scheduler)
                .take(LOAD.dividedBy(BETWEEN_CALLS))
                .flatMap(
                        call -> Flux.from(guard.apply(backend()))
                                .doOnNext(this::answered)
                                .onErrorComplete(this::isRefusal),
                        Integer.MAX_VALUE)
                .subscribe();
        time.advanceTimeBy(LOAD.multipliedBy(3));
        return answered + " answered, the slowest after " + slowestMillis + " ms; " + refused + " refused at once";
    }

    /** Answers, when a worker has done it, with how long that took. */
    private Mono<Long> backend() {
        return Mono.defer(() -> {
            long now = scheduler.now(TimeUnit.MILLISECONDS);
            long done = Math.max(now, workers.remove()) + WORK_MILLIS;
            workers.add(done);
            return Mono.delay(Duration.ofMillis(done - now), scheduler).thenReturn(done - now);
        });
    }

    private void answered(long millis) {
        answered++;
        slowestMillis = Math.max(slowestMillis, millis);
    }

    private boolean isRefusal(Throwable error) {
        boolean refusal = error instanceof ConcurrencyLimitException;
        refused += refusal ? 1 : 0;
        return refusal;
    }
}
