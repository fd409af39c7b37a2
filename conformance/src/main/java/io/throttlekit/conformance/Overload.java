package io.throttlekit.conformance;

import io.throttlekit.concurrency.AdaptiveConcurrency;
import io.throttlekit.concurrency.ConcurrencyGuard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;

/**
 * More clients than a backend can serve, under several limits in the same seconds, so that a slow machine is
 * slow for all of them.
 */
public final class Overload {
    /** The path under a limit that finds itself. */
    public static final String ADAPTIVE = "adaptive";

    /** The path under no limit that matters. */
    public static final String UNGUARDED = "unguarded";

    private static final int CAPACITY = 8;
    private static final int CLIENTS = 64;
    private static final Duration SERVICE = Duration.ofMillis(80);
    private static final Duration BACK_OFF = Duration.ofMillis(300);
    private static final Duration WARM_UP = Duration.ofSeconds(8);
    private static final Duration MEASURED = Duration.ofSeconds(4);

    /** Answers a request at a path with its status. */
    public interface Client extends Function<String, Mono<Integer>> {}

    /** How long the requests took that were served, in milliseconds. */
    public record Served(List<Long> millis) {
        /** How many. */
        public int count() {
            return millis.size();
        }

        /** In milliseconds, zero if none was served. */
        public long percentile(int percent) {
            List<Long> sorted = new ArrayList<>(millis);
            Collections.sort(sorted);
            return sorted.isEmpty() ? 0 : sorted.get(Math.min(sorted.size() - 1, sorted.size() * percent / 100));
        }

        @Override
        public String toString() {
            return count() + " served, p50 " + percentile(50) + " ms, p99 " + percentile(99) + " ms";
        }
    }

    /** Works on some requests at a time and queues the rest. */
    public static final class Backend {
        private final Sinks.Many<MonoSink<String>> jobs = Sinks.many().unicast().onBackpressureBuffer();
        private final Disposable workers = jobs.asFlux()
                .flatMap(job -> Mono.delay(SERVICE).doOnNext(tick -> job.success("done")), CAPACITY)
                .subscribe();

        /** Completes when it is done; a cancelled one is worked on all the same. */
        public Mono<String> work() {
            return Mono.create(job -> jobs.emitNext(job, Sinks.EmitFailureHandler.busyLooping(Duration.ofSeconds(1))));
        }

        /** Ends it. */
        public void stop() {
            workers.dispose();
        }
    }

    private Overload() {}

    /** The limits to compare, by path. */
    public static Map<String, ConcurrencyGuard> guards() {
        Map<String, ConcurrencyGuard> guards = new TreeMap<>();
        guards.put(ADAPTIVE, AdaptiveConcurrency.gradient2().build());
        for (int limit : new int[] {8, 12}) {
            guards.put("fixed" + limit, fixed(limit));
        }
        guards.put(UNGUARDED, fixed(1000));
        return guards;
    }

    private static ConcurrencyGuard fixed(int limit) {
        return AdaptiveConcurrency.gradient2().minLimit(limit).maxLimit(limit).build();
    }

    /** Runs all paths at once and returns what was served on each after the warm-up, in which a cold JVM is slow for all. */
    public static Map<String, Served> run(Iterable<String> paths, Client client) {
        Map<String, Served> results = new TreeMap<>();
        long start = System.nanoTime();
        List<Mono<Void>> loops = new ArrayList<>();
        for (String path : paths) {
            List<Long> millis = Collections.synchronizedList(new ArrayList<>());
            results.put(path, new Served(millis));
            for (int i = 0; i < CLIENTS; i++) {
                loops.add(once(path, client, start, millis)
                        .repeat(() -> System.nanoTime() - start
                                < WARM_UP.plus(MEASURED).toNanos())
                        .then());
            }
        }
        Flux.merge(Flux.fromIterable(loops), loops.size()).blockLast(Duration.ofSeconds(60));
        return results;
    }

    private static Mono<Void> once(String path, Client client, long start, List<Long> millis) {
        return Mono.defer(() -> {
            long sent = System.nanoTime();
            return client.apply(path).flatMap(status -> {
                if (status != 200) {
                    return Mono.delay(BACK_OFF).then();
                }
                if (sent - start > WARM_UP.toNanos()) {
                    millis.add((System.nanoTime() - sent) / 1_000_000);
                }
                return Mono.empty();
            });
        });
    }
}
