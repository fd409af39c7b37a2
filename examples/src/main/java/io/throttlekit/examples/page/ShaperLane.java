package io.throttlekit.examples.page;

import io.throttlekit.Store;
import io.throttlekit.examples.page.Frame.Place;
import io.throttlekit.examples.page.Frame.ShaperFrame;
import io.throttlekit.shaping.LeakyBucket;
import io.throttlekit.shaping.Reservation;
import io.throttlekit.shaping.Shaper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** A shaper under load. To be used by one thread at a time, that of its scheduler. */
final class ShaperLane {
    private static final String KEY = "visitor";
    private static final Duration MAX_WAIT = Duration.ofMillis(500);

    /** So many events of a kind are told in a frame; it matters to a reader who does not keep up. */
    private static final int TOLD = 1_000;

    private final Shaper shaper;
    private final Scheduler scheduler;
    private final LongSupplier nowMicros;
    private final long startMicros;
    private final double intervalMs;
    private List<Place> reserved = new ArrayList<>();
    private List<Double> refused = new ArrayList<>();
    private long waiting;
    private long totalDeparted;
    private long totalRefused;

    ShaperLane(Store store, Knobs knobs, Scheduler scheduler, LongSupplier nowMicros, long startMicros) {
        this.shaper = LeakyBucket.of(knobs.limit(), Duration.ofSeconds(1))
                .maxQueue(MAX_WAIT)
                .store(store)
                .prefix("shaper")
                .scheduler(scheduler)
                .build();
        this.scheduler = scheduler;
        this.nowMicros = nowMicros;
        this.startMicros = startMicros;
        this.intervalMs = 1_000.0 / knobs.limit();
    }

    /**
     * Offers a request.
     *
     * <p>{@code schedule} would do, were it not that the page shows departures before they happen.
     *
     * @return completes at its departure, or at once when the queue is full
     */
    Mono<Void> ask() {
        return shaper.reserve(KEY).flatMap(this::keep);
    }

    private Mono<Void> keep(Reservation reservation) {
        double arrival = ms(nowMicros.getAsLong());
        if (!reservation.accepted()) {
            totalRefused++;
            tell(refused, arrival);
            return Mono.empty();
        }
        waiting++;
        tell(reserved, new Place(arrival, ms(reservation.departure().ceil())));
        return Mono.delay(reservation.delay(), scheduler)
                .doOnNext(due -> depart())
                .then();
    }

    private void depart() {
        waiting--;
        totalDeparted++;
    }

    private static <T> void tell(List<T> events, T event) {
        if (events.size() < TOLD) {
            events.add(event);
        }
    }

    private double ms(long micros) {
        return (micros - startMicros) / 1_000.0;
    }

    /** What happened since this was last asked. */
    ShaperFrame frame() {
        ShaperFrame frame = new ShaperFrame(
                intervalMs, MAX_WAIT.toMillis(), reserved, refused, waiting, totalDeparted, totalRefused);
        reserved = new ArrayList<>();
        refused = new ArrayList<>();
        return frame;
    }
}
