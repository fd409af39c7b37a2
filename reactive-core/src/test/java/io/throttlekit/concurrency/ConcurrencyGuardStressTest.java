package io.throttlekit.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConcurrencyGuardStressTest {
    private static final int THREADS = 64;
    private static final int ROUNDS = 100_000;

    @ParameterizedTest
    @ValueSource(strings = {"gradient2", "aimd"})
    void neverAdmitsAboveTheLimitAndEndsAtZero(String law) throws Exception {
        ConcurrencyGuard guard = (law.equals("aimd") ? AdaptiveConcurrency.aimd() : AdaptiveConcurrency.gradient2())
                .minLimit(2)
                .maxLimit(48)
                .build();
        AtomicInteger held = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        LongAdder admitted = new LongAdder();
        LongAdder broken = new LongAdder();
        CountDownLatch done = new CountDownLatch(THREADS);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);

        for (int t = 0; t < THREADS; t++) {
            SplittableRandom random = new SplittableRandom(t);
            threads.execute(() -> {
                for (int i = 0; i < ROUNDS; i++) {
                    Lease lease = guard.acquire();
                    if (!lease.ok()) {
                        continue;
                    }
                    admitted.increment();
                    most.accumulateAndGet(held.incrementAndGet(), Math::max);
                    ConcurrencyGuard.Stats stats = guard.stats();
                    if (stats.inFlight() < 1 || stats.inFlight() > 48 || stats.limit() < 2 || stats.limit() > 48) {
                        broken.increment();
                    }
                    for (int spins = random.nextInt(50); spins > 0; spins--) {
                        Thread.onSpinWait();
                    }
                    held.decrementAndGet();
                    end(lease, random.nextInt(200));
                    if (random.nextInt(10) == 0) {
                        end(lease, random.nextInt(200));
                    }
                }
                done.countDown();
            });
        }
        boolean finished = done.await(120, TimeUnit.SECONDS);
        threads.shutdownNow();

        assertThat(finished).isTrue();
        assertThat(broken.sum()).isZero();
        assertThat(most.get()).isBetween(1, 48);
        assertThat(guard.inFlight()).isZero();
        assertThat(guard.limit()).isBetween(2, 48);
        assertThat(admitted.sum() + guard.stats().rejected()).isEqualTo((long) THREADS * ROUNDS);
    }

    private static void end(Lease lease, int how) {
        if (how == 0) {
            lease.releaseFailed(new TimeoutException());
        } else if (how < 20) {
            lease.releaseFailed(new IllegalStateException());
        } else if (how < 40) {
            lease.cancel();
        } else {
            lease.release();
        }
    }
}
