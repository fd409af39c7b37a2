package io.throttlekit.examples.soak;

import io.vertx.core.Vertx;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A WebFlux and a Vert.x server over each store, under load, with a fault of one of the stores' servers every few
 * seconds. All along:
 *
 * <ul>
 *   <li>no limit admits more than its bound, both servers together,
 *   <li>no check is answered later than its deadline and 100 ms; what the machine stood still is added,
 *   <li>every request is answered with 200, 429 or 503,
 *   <li>what was given back has been given back, and nothing else.
 * </ul>
 *
 * <p>When it is quiet again, heap, threads, connections and keys are back to what they were when the JVM was warm, and
 * Netty has found no buffer that was lost. {@code -Dminutes=N} says for how long, 1 unless given, and may be a fraction.
 * It prints each fault, what was wrong, and one line of figures, and exits with 1 if something was wrong.
 */
public final class Soak {
    /** Before and after each fault has been met once; from then on delays are judged too. */
    private static final Duration WARM_UP = Duration.ofSeconds(3);

    private static final Duration BETWEEN_FAULTS = Duration.ofSeconds(2);
    private static final Duration BETWEEN_REFUNDS = Duration.ofMillis(20);
    private static final Duration QUIET = Duration.ofSeconds(30);
    private static final int REFUNDS_AT_ONCE = 32;
    private static final int MAX_TOLD = 20;

    private final Duration length;
    private final PrintStream out;
    private final Random random;
    private final Set<String> violations = new LinkedHashSet<>();
    private final Leaks leaks = Leaks.watch(this::violation);
    private final AtomicLong faults = new AtomicLong();
    private boolean warm;

    /** A soak with faults in an order that the seed decides. */
    Soak(Duration length, long seed, PrintStream out) {
        this.length = length;
        this.random = new Random(seed);
        this.out = out;
    }

    /**
     * Runs it and ends the JVM.
     *
     * @param args none
     */
    public static void main(String[] args) {
        double minutes = Double.parseDouble(System.getProperty("minutes", "1"));
        Duration length = Duration.ofMillis((long) (minutes * 60_000));
        System.exit(new Soak(length, System.nanoTime(), System.out).run().isEmpty() ? 0 : 1);
    }

    private synchronized void violation(String what) {
        if (violations.size() < MAX_TOLD && violations.add(what)) {
            out.println("WRONG  " + what);
        }
    }

    /** Something that is wrong once the JVM is warm: cold, on a busy machine, it lets anyone wait, limits or not. */
    private synchronized void delay(String what) {
        if (warm) {
            violation(what);
        }
    }

    private synchronized void judgeDelays() {
        warm = true;
    }

    private synchronized List<String> violations() {
        return List.copyOf(violations);
    }

    /** Runs it and returns what was wrong. */
    List<String> run() {
        Vertx vertx = Vertx.vertx();
        List<Backend> backends = List.of(new MemoryBackend(), new RedisBackend(vertx), new PgBackend(vertx));
        try (Pauses pauses = new Pauses();
                Visitors visitors = new Visitors(this::delay)) {
            run(vertx, backends, pauses, visitors);
        } finally {
            backends.forEach(Backend::close);
            vertx.close().toCompletionStage().toCompletableFuture().join();
        }
        return violations();
    }

    private void run(Vertx vertx, List<Backend> backends, Pauses pauses, Visitors visitors) {
        List<Site> sites = new ArrayList<>();
        List<Bound> bounds = new ArrayList<>();
        Map<String, Ledger> ledgers = new LinkedHashMap<>();
        List<Refunds> refunds = new ArrayList<>();
        for (Backend backend : backends) {
            Map<String, Bound> promises = Site.bounds(backend.name(), this::violation);
            bounds.addAll(promises.values());
            Ledger ledger = new Ledger(backend.name(), backend.deadline(), pauses, promises, this::delay);
            ledgers.put(backend.name(), ledger);
            sites.add(Site.webFlux(backend, ledger));
            sites.add(Site.vertx(vertx, backend, ledger));
            refunds.add(new Refunds(backend.name(), backend.store(), this::violation));
        }
        Sinks.Empty<Void> end = Sinks.empty();
        Mono<Void> load = load(sites, visitors, refunds, end.asMono()).cache();
        load.subscribe();
        refunds.forEach(Refunds::awaitStore);
        Backend.pause(WARM_UP);
        for (Backend backend : backends) {
            backend.faults().forEach(fault -> fault.strike().run());
        }
        Backend.pause(WARM_UP);

        refunds.forEach(Refunds::spread);
        ledgers.values().forEach(Ledger::warm);
        judgeDelays();
        Traces before = Traces.now(backends);
        strike(backends);
        end.tryEmitEmpty();
        load.block(QUIET);
        refunds.forEach(Refunds::verify);
        refunds.forEach(Refunds::end);
        bounds.forEach(Bound::verify);
        Traces after = settle(backends, before);

        tell(ledgers, visitors, refunds, before, after);
        sites.forEach(Site::close);
    }

    private static Mono<Void> load(List<Site> sites, Visitors visitors, List<Refunds> refunds, Mono<Void> end) {
        List<Mono<Void>> all = new ArrayList<>();
        for (Site site : sites) {
            site.policies().forEach(policy -> all.add(visitors.visit(site, policy, end)));
        }
        for (Refunds account : refunds) {
            all.add(Flux.interval(BETWEEN_REFUNDS)
                    .onBackpressureDrop()
                    .takeUntilOther(end)
                    .flatMap(tick -> account.once(), REFUNDS_AT_ONCE)
                    .then());
        }
        return Mono.when(all);
    }

    private void strike(List<Backend> backends) {
        List<Backend.Fault> all =
                backends.stream().flatMap(backend -> backend.faults().stream()).toList();
        long start = System.nanoTime();
        List<Backend.Fault> round = new ArrayList<>();
        while (System.nanoTime() - start < length.toNanos()) {
            if (round.isEmpty()) {
                round.addAll(all);
            }
            Backend.Fault fault = round.remove(random.nextInt(round.size()));
            out.printf(Locale.ROOT, "%6.1f s  %s%n", (System.nanoTime() - start) / 1e9, fault.name());
            fault.strike().run();
            faults.incrementAndGet();
            Backend.pause(BETWEEN_FAULTS);
        }
    }

    /** Waits until nothing is left of the load, or until that should long have been so, and says what is. */
    private Traces settle(List<Backend> backends, Traces before) {
        long start = System.nanoTime();
        while (true) {
            Traces now = Traces.now(backends);
            List<String> left = new ArrayList<>(now.beyond(before));
            for (Backend backend : backends) {
                if (backend.keys() > 0) {
                    left.add("keys: " + backend.keys() + " in " + backend.name());
                }
            }
            if (left.isEmpty() || System.nanoTime() - start > QUIET.toNanos()) {
                left.forEach(this::violation);
                return now;
            }
            Backend.pause(Duration.ofMillis(500));
        }
    }

    private void tell(
            Map<String, Ledger> ledgers, Visitors visitors, List<Refunds> refunds, Traces before, Traces after) {
        out.printf(
                Locale.ROOT,
                "soak of %d s: %,d requests, %,d of which did not wait; %d faults",
                length.toSeconds(),
                visitors.asked.sum(),
                visitors.left.sum(),
                faults.get());
        ledgers.forEach((name, ledger) -> out.printf(
                Locale.ROOT,
                "; %s: %,d allowed, %,d denied, %,d unanswered by the store, slowest check %d ms",
                name,
                ledger.allowed.sum(),
                ledger.denied.sum(),
                ledger.undecided.sum(),
                ledger.slowestNanos.get() / 1_000_000));
        out.printf(
                Locale.ROOT,
                "; %,d refunds; heap %d to %d MiB, threads %d to %d, connections %s to %s, leaks %d: %s%n",
                refunds.stream().mapToLong(Refunds::count).sum(),
                before.heapBytes() >> 20,
                after.heapBytes() >> 20,
                before.threadCount(),
                after.threadCount(),
                before.connections(),
                after.connections(),
                leaks.count(),
                violations().isEmpty() ? "nothing wrong" : "WRONG");
    }
}
