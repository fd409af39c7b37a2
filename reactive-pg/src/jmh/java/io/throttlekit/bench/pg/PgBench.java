package io.throttlekit.bench.pg;

import io.throttlekit.Decision;
import io.throttlekit.bench.report.Bar;
import io.throttlekit.bench.report.Defaults;
import io.throttlekit.bench.report.Report;
import io.throttlekit.bench.report.Table;
import io.throttlekit.conformance.PostgresServer;
import io.throttlekit.conformance.PostgresServers;
import io.throttlekit.pg.Durability;
import io.throttlekit.pg.PgStore;
import io.throttlekit.strategy.Gcra;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgConnectOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Checks per second on PostgreSQL, 64 in flight on 8 connections, beside a bare upsert through the same client and
 * beside Bucket4j over JDBC on as many connections, as durable.
 *
 * <p>Everything is run in turn, in rounds, since the disk's and the machine's mood changes by the minute; ratios are the
 * medians of those within a round. {@code -Dbench.args="SECONDS ROUNDS"}, 2 and 5 unless given.
 */
public final class PgBench {
    private static final int IN_FLIGHT = 64;
    private static final int CONNECTIONS = 8;
    private static final int KEYS = 10_000;
    private static final double WARM_UP = 0.25;
    private static final Gcra ALLOWING = Gcra.of(1_000_000, Duration.ofSeconds(1));
    private static final Gcra DENYING = Gcra.of(1, Duration.ofDays(365));

    private static final String FOR_UPDATE = "Bucket4j, FOR UPDATE";
    private static final String ADVISORY = "Bucket4j, advisory lock";
    private static final String WHY_SHARED = "by default allows on one key share commits, which makes them less slow";
    private static final String WHY_UPSERT = "a function is more work than a bare statement";
    /** Of a store that does not share commits. */
    private static final String ALONE = ", a transaction each";

    private final double seconds;
    private final int rounds;
    private final Vertx vertx = Vertx.vertx();
    private final Map<String, List<Double>> rates = new LinkedHashMap<>();

    private PgBench(double seconds, int rounds) {
        this.seconds = seconds;
        this.rounds = rounds;
    }

    /** Runs the suite. */
    public static void main(String[] args) throws Exception {
        double seconds = Defaults.number(args, 0, 2, 1);
        int rounds = (int) Defaults.number(args, 1, 5, 3);
        // It waits for the disk, unlike a server for tests.
        Map<String, String> settings =
                Map.of("fsync", "on", "synchronous_commit", "on", "client_min_messages", "warning");
        try (PostgresServer server = PostgresServers.own(settings)) {
            new PgBench(seconds, rounds).run(server);
        } catch (Throwable e) {
            e.printStackTrace();
            System.exit(1);
        }
        System.exit(0);
    }

    private void run(PostgresServer server) throws IOException, InterruptedException {
        String database = server.createDatabase();
        String uri = server.uri(database);
        String jdbc = "jdbc:postgresql://" + server.host() + ":" + server.port() + "/" + database;
        for (int round = 0; round <= rounds; round++) {
            for (Durability durability : Durability.values()) {
                round(uri, durability);
                if (durability == Durability.DURABLE) {
                    peer(jdbc);
                }
            }
            pgbench(server, database);
            if (round == 0) {
                // Everything is compiled and every row is there.
                rates.clear();
            }
            System.err.println("round " + round + " of " + rounds + " done");
        }
        print();
    }

    private void round(String uri, Durability durability) {
        String table = "limits_" + durability.name().toLowerCase(Locale.ROOT);
        PgStore store = store(uri, table, durability).build();
        PgStore alone = store(uri, table, durability).shareCommits(false).build();
        PgStore functions = store(uri, table, durability)
                .programs(false)
                .prefix("functions")
                .build();
        try (BareUpsert bare = new BareUpsert(vertx, uri, CONNECTIONS, durability)) {
            Function<String, Mono<Decision>> allow = key -> store.apply(key, ALLOWING.check(1, 1));
            Function<String, Mono<Decision>> deny = key -> store.apply("denied" + key, DENYING.check(1, 1));
            exhaust(deny);
            String name = durability.name();
            measure(name + " upsert, uniform", bare::add, PgBench::uniform);
            measure(name + " allow, uniform", allow, PgBench::uniform);
            measure(name + " deny, uniform", deny, PgBench::uniform);
            measure(name + " upsert, hot", bare::add, () -> "hot");
            measure(name + " allow, hot", allow, () -> "hot");
            measure(name + " deny, hot", deny, () -> "hot");
            measure(name + " allow, hot" + ALONE, key -> alone.apply(key, ALLOWING.check(1, 1)), () -> "hot");
            measure(name + " deny, hot" + ALONE, key -> alone.apply("denied" + key, DENYING.check(1, 1)), () -> "hot");
            measure(
                    name + " allow, uniform, function path",
                    key -> functions.apply(key, ALLOWING.check(1, 1)),
                    PgBench::uniform);
        }
        Mono.when(store.close(), alone.close(), functions.close()).block();
    }

    private void peer(String jdbc) {
        try (Bucket4jPg peer = new Bucket4jPg(jdbc, CONNECTIONS)) {
            measure(FOR_UPDATE + ", allow, uniform", key -> peer.forUpdate(key, true), PgBench::uniform);
            measure(FOR_UPDATE + ", allow, hot", key -> peer.forUpdate(key, true), () -> "hot");
            measure(FOR_UPDATE + ", deny, hot", key -> peer.forUpdate(key, false), () -> "denied");
            measure(ADVISORY + ", allow, uniform", key -> peer.advisory(key, true), PgBench::uniform);
            measure(ADVISORY + ", allow, hot", key -> peer.advisory(key, true), () -> "hot");
            measure(ADVISORY + ", deny, hot", key -> peer.advisory(key, false), () -> "denied");
        }
    }

    private PgStore.Builder store(String uri, String table, Durability durability) {
        return PgStore.builder(vertx, PgConnectOptions.fromUri(uri))
                .connections(CONNECTIONS)
                .deadline(Duration.ofSeconds(30))
                .sweepInterval(Duration.ZERO)
                .table(table)
                .durability(durability);
    }

    private static String uniform() {
        return "key" + ThreadLocalRandom.current().nextInt(KEYS);
    }

    private static void exhaust(Function<String, Mono<Decision>> deny) {
        Flux.range(0, KEYS)
                .map(i -> "key" + i)
                .concatWithValues("hot")
                .flatMap(deny, IN_FLIGHT)
                .blockLast();
    }

    /**
     * Keeps so many calls in flight for a while, and counts those that are answered. Not from the first moment on: the
     * connections are new, and their server processes have yet to read and prepare what they are asked for.
     */
    private void measure(String name, Function<String, ? extends Mono<?>> call, Supplier<String> keys) {
        AtomicLong answered = new AtomicLong();
        long start = System.nanoTime() + (long) (WARM_UP * seconds * 1e9);
        long end = start + (long) (seconds * 1e9);
        Flux.generate(sink -> {
                    if (System.nanoTime() - end < 0) {
                        sink.next(keys.get());
                    } else {
                        sink.complete();
                    }
                })
                .flatMap(key -> call.apply((String) key), IN_FLIGHT, 1)
                .filter(answer -> System.nanoTime() - start >= 0)
                .doOnNext(answer -> answered.incrementAndGet())
                .blockLast();
        double elapsed = (System.nanoTime() - start) / 1e9;
        add(name, answered.get() / elapsed);
    }

    private void add(String name, double rate) {
        rates.computeIfAbsent(name, n -> new ArrayList<>()).add(rate);
    }

    /** The same upsert by PostgreSQL's own client, where that is installed. */
    private void pgbench(PostgresServer server, String database) throws IOException, InterruptedException {
        Path script = Files.createTempFile("upsert", ".sql");
        Files.writeString(
                script,
                "\\set k random(0, " + (KEYS - 1) + ")\n"
                        + "INSERT INTO bare_durable AS t (key, n, expires) VALUES (('key' || :k)::bytea, 1, 1)"
                        + " ON CONFLICT (key) DO UPDATE SET n = t.n + 1, expires = excluded.expires RETURNING n;\n");
        try {
            Process process = new ProcessBuilder(
                            "pgbench",
                            "-n",
                            "-M",
                            "prepared",
                            "-c",
                            String.valueOf(CONNECTIONS),
                            "-T",
                            "" + Math.max(1, Math.round(seconds)),
                            "-h",
                            server.host(),
                            "-p",
                            "" + server.port(),
                            "-U",
                            "postgres",
                            "-f",
                            script.toString(),
                            database)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            Matcher tps = Pattern.compile("tps = ([0-9.]+)").matcher(out);
            if (process.waitFor() == 0 && tps.find()) {
                add(
                        "DURABLE upsert, uniform, by pgbench, one at a time on each connection",
                        Double.parseDouble(tps.group(1)));
            }
        } catch (IOException e) {
            System.err.println("pgbench is not installed");
        } finally {
            Files.delete(script);
        }
    }

    private static double median(List<Double> values) {
        List<Double> sorted = new ArrayList<>(values);
        Collections.sort(sorted);
        return sorted.get(sorted.size() / 2);
    }

    /** The median of the ratios within a round: the machine's speed changes from one round to the next. */
    private double ratio(String over, String under) {
        List<Double> overs = rates.getOrDefault(over, List.of());
        List<Double> unders = rates.getOrDefault(under, List.of());
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < overs.size(); i++) {
            ratios.add(overs.get(i) / unders.get(i));
        }
        return median(ratios);
    }

    private void print() throws IOException {
        String title = String.format(
                Locale.ROOT,
                "%d in flight, %d connections, %d keys, medians of %d",
                IN_FLIGHT,
                CONNECTIONS,
                KEYS,
                rounds);
        System.out.printf("%n%s%n%n", title);
        System.out.printf("%-75s %10s%n", "", "per second");
        Report report = Report.of("pg");
        Table table = report.table(title, "per second");
        rates.forEach((name, values) -> {
            System.out.printf("%-75s %10.0f%n", name, median(values));
            table.row(name, median(values));
        });
        System.out.println();
        for (Durability durability : Durability.values()) {
            String name = durability.name();
            ratio(report, name + " allow, uniform", name + " upsert, uniform", Bar.atLeast(0.7), WHY_UPSERT);
        }
        ratio(report, "DURABLE deny, hot" + ALONE, "DURABLE allow, hot" + ALONE, Bar.atLeast(4), "");
        ratio(report, "DURABLE deny, hot", "DURABLE allow, hot", Bar.NONE, WHY_SHARED);
        ratio(report, "DURABLE allow, hot", "DURABLE allow, hot" + ALONE, Bar.NONE, "");
        ratio(report, "DURABLE allow, hot", "DURABLE upsert, hot", Bar.NONE, "");
        for (String peer : List.of(FOR_UPDATE, ADVISORY)) {
            ratio(report, "DURABLE allow, hot", peer + ", allow, hot", Bar.atLeast(3), "");
            ratio(report, "DURABLE deny, hot", peer + ", deny, hot", Bar.atLeast(3), "");
            ratio(report, "DURABLE allow, uniform", peer + ", allow, uniform", Bar.NONE, "");
        }
        report.write();
    }

    private void ratio(Report report, String ours, String theirs, Bar bar, String why) {
        double ratio = ratio(ours, theirs);
        System.out.printf(
                "%s / %s = %.2f%s%n", ours, theirs, ratio, bar == Bar.NONE ? "" : " (bar " + bar.value() + ")");
        report.ratio(ours + " / " + theirs, ratio, bar, why);
    }
}
