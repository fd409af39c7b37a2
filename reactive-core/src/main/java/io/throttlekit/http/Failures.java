package io.throttlekit.http;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import reactor.util.Logger;
import reactor.util.Loggers;

/** Counts the failures of one kind and logs them, one line per interval however many there are. */
final class Failures {
    static final Duration INTERVAL = Duration.ofSeconds(10);

    private static final Logger LOG = Loggers.getLogger(Admission.class);

    private final String what;
    private final LongSupplier nanoTime;
    private final Consumer<String> log;
    private final LongAdder unlogged = new LongAdder();
    private final AtomicLong nextLineNanos;

    Failures(String what) {
        this(what, System::nanoTime, LOG::warn);
    }

    Failures(String what, LongSupplier nanoTime, Consumer<String> log) {
        this.what = what;
        this.nanoTime = nanoTime;
        this.log = log;
        this.nextLineNanos = new AtomicLong(nanoTime.getAsLong());
    }

    void add(Throwable error) {
        unlogged.increment();
        long now = nanoTime.getAsLong();
        long due = nextLineNanos.get();
        if (now - due >= 0 && nextLineNanos.compareAndSet(due, now + INTERVAL.toNanos())) {
            log.accept(what + ": " + unlogged.sumThenReset() + " request(s), the last one for " + error);
        }
    }
}
