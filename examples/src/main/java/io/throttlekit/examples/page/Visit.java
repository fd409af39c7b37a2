package io.throttlekit.examples.page;

import io.throttlekit.Clock;
import io.throttlekit.store.MemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * What one visitor looks at: a load, and limiters of its own that it is offered to.
 *
 * <p>Everything happens on one thread, that of the scheduler, so nothing here needs a lock. Only what the visitor wants
 * comes from other threads, through two fields. All times are those of the scheduler.
 */
final class Visit {
    private static final Duration FRAME = Duration.ofMillis(100);
    private static final Duration STEP = Duration.ofMillis(10);

    /** Who takes no frame for so long has left without saying so. */
    private static final Duration PATIENCE = Duration.ofSeconds(15);

    /** Requests that are offered at once on top of the rate. */
    private static final int SPIKE = 50;

    /** A load that could not be offered for longer than this is not made up for. */
    private static final long MOST_BEHIND_MICROS = 250_000;

    /** A step is over when its last request has departed from the shaper, half a second later at most. */
    private static final int STEPS_AT_ONCE = 256;

    private final Scheduler scheduler;
    private final Clock clock;
    private final MemoryStore store;
    private final long startMicros;
    private final AtomicBoolean spike = new AtomicBoolean();
    private volatile Knobs wanted;

    private Knobs knobs;
    private long sinceMicros;
    private List<Lane> lanes;
    private ShaperLane shaper;
    private Fleet fleet;

    private long steppedMicros;
    private long owedMicroRequests;
    private long offered;
    private long framedMicros;

    /** A visit whose scheduler has a single thread. */
    Visit(Knobs knobs, Scheduler scheduler) {
        this.scheduler = scheduler;
        this.clock = Clock.of(scheduler);
        this.store =
                MemoryStore.builder().clock(clock).sweepInterval(Duration.ZERO).build();
        this.startMicros = store.nowMicros();
        this.sinceMicros = startMicros;
        this.steppedMicros = startMicros;
        this.framedMicros = startMicros;
        this.wanted = knobs;
        this.knobs = knobs;
        this.lanes = Lane.all(store, knobs, startMicros);
        this.shaper = shaper(knobs);
        this.fleet = new Fleet(store, clock, knobs);
    }

    private ShaperLane shaper(Knobs knobs) {
        return new ShaperLane(store, knobs, scheduler, store::nowMicros, startMicros);
    }

    /** From the next step on. */
    void turn(Knobs knobs) {
        wanted = knobs;
    }

    /** With the next step. However often it is asked for before that, it comes once. */
    void spike() {
        spike.set(true);
    }

    /** The load, and what comes of it. To be subscribed to once. A reader who is slow gets fewer frames. */
    Flux<Frame> frames() {
        Flux<Frame> frames = Flux.interval(FRAME, scheduler)
                .onBackpressureDrop()
                .map(tick -> frame())
                .timeout(PATIENCE, scheduler);
        Flux<Frame> load = Flux.interval(STEP, scheduler)
                .onBackpressureDrop()
                .flatMap(tick -> step(), STEPS_AT_ONCE)
                .thenMany(Flux.never());
        return Flux.merge(frames, load);
    }

    private Mono<Void> step() {
        return turned().thenMany(Flux.defer(() -> Flux.range(0, due())))
                .flatMap(request -> offer(), Integer.MAX_VALUE)
                .then();
    }

    private Mono<Void> offer() {
        offered++;
        return Flux.fromIterable(lanes)
                .concatMap(Lane::ask)
                .then(Mono.defer(fleet::ask))
                .then(Mono.defer(shaper::ask));
    }

    /** How many requests the load owes by now. */
    private int due() {
        long now = store.nowMicros();
        owedMicroRequests += knobs.rate() * Math.min(MOST_BEHIND_MICROS, now - steppedMicros);
        steppedMicros = now;
        int due = (int) (owedMicroRequests / 1_000_000);
        owedMicroRequests %= 1_000_000;
        return spike.getAndSet(false) ? due + SPIKE : due;
    }

    private Mono<Void> turned() {
        Knobs next = wanted;
        if (next.limitsAs(knobs)) {
            knobs = next;
            return Mono.empty();
        }
        knobs = next;
        Fleet before = fleet;
        return before.close().then(Mono.fromRunnable(() -> {
            sinceMicros = store.nowMicros();
            lanes = Lane.all(store, next, sinceMicros);
            shaper = shaper(next);
            fleet = new Fleet(store, clock, next);
        }));
    }

    private Frame frame() {
        long now = store.nowMicros();
        Frame frame = new Frame(
                ms(now - startMicros),
                ms(now - framedMicros),
                ms(sinceMicros - startMicros),
                knobs,
                offered,
                lanes.stream().map(lane -> lane.frame(now)).toList(),
                shaper.frame(),
                fleet.frame(now / 1_000));
        offered = 0;
        framedMicros = now;
        return frame;
    }

    private static double ms(long micros) {
        return micros / 1_000.0;
    }

    /** Ends what is left once the frames have ended. */
    Mono<Void> close() {
        return Mono.defer(fleet::close).then(store.close());
    }
}
