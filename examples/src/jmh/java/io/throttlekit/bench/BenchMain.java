package io.throttlekit.bench;

import io.throttlekit.bench.report.Bar;
import io.throttlekit.bench.report.Defaults;
import io.throttlekit.bench.report.Report;
import io.throttlekit.bench.report.Table;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Measures the CPU time per request of the same endpoint without anything in front of it, with two constant fields
 * that are added to the response in the way that the limit does it, and with a limit in memory. The servers are
 * processes of their own, driven in turns from here, and several of each: what the compiler makes of the same code
 * differs from process to process by more than the limit costs.
 */
public final class BenchMain {
    private static final int CONNECTIONS = 16;
    private static final double BAR = 1.05;
    private static final String WHY = "of which the response fields alone are the next line";
    private static final List<String> KINDS = List.of("webflux", "vertx");

    private BenchMain() {}

    /**
     * {@code -Dbench.args} may give a number of rounds, of requests per round, of requests to warm up with and of
     * processes of each kind: as long as a server's code is being compiled, the compiler is what its CPU time is spent on.
     */
    public static void main(String[] args) throws Exception {
        int rounds = (int) Defaults.number(args, 0, 5, 3);
        int requests = (int) Defaults.number(args, 1, 100_000, 50_000);
        int warmUp = (int) Defaults.number(args, 2, 600_000, 300_000);
        int processes = (int) Defaults.number(args, 3, 3, 3);
        Vertx vertx = Vertx.vertx();
        Context context = vertx.getOrCreateContext();
        HttpClient client = vertx.createHttpClient(
                new HttpClientOptions().setKeepAlive(true), new PoolOptions().setHttp1MaxSize(CONNECTIONS));
        Map<String, List<Server>> servers = new LinkedHashMap<>();
        try {
            for (String kind : KINDS) {
                for (BenchServer.Front front : BenchServer.Front.values()) {
                    List<Server> same = servers.computeIfAbsent(name(kind, front), name -> new ArrayList<>());
                    for (int i = 0; i < processes; i++) {
                        same.add(Server.start(context, kind, front));
                    }
                }
            }
            List<Server> all = servers.values().stream().flatMap(List::stream).toList();
            for (Server server : all) {
                server.round(client, warmUp);
            }
            for (int i = 0; i < rounds; i++) {
                for (Server server : all) {
                    server.micros.add(server.round(client, requests));
                }
            }
        } finally {
            servers.values().forEach(same -> same.forEach(server -> server.process.destroy()));
            vertx.close();
        }
        report(servers);
        System.exit(0);
    }

    private static void report(Map<String, List<Server>> servers) throws IOException {
        Report report = Report.of("http");
        Table table = report.table("server", "CPU us/request");
        System.out.printf("%n%-30s %14s%n", "server", "CPU us/request");
        servers.forEach((name, same) -> {
            System.out.printf("%-30s %14.2f%n", name, micros(same));
            table.row(name, micros(same));
        });
        System.out.println();
        for (String kind : KINDS) {
            double toBare = ratio(servers, kind, BenchServer.Front.LIMIT, BenchServer.Front.NONE);
            double fields = ratio(servers, kind, BenchServer.Front.FIELDS, BenchServer.Front.NONE);
            double toFields = ratio(servers, kind, BenchServer.Front.LIMIT, BenchServer.Front.FIELDS);
            System.out.printf("%s: limit / none = %.3f (bar %.2f)%n", kind, toBare, BAR);
            System.out.printf("%s: two constant fields / none = %.3f%n", kind, fields);
            System.out.printf("%s: limit / two constant fields = %.3f%n", kind, toFields);
            report.ratio(kind + ": limit / none", toBare, Bar.atMost(BAR), WHY);
            report.ratio(kind + ": two constant fields / none", fields);
            report.ratio(kind + ": limit / two constant fields", toFields);
        }
        report.write();
    }

    private static double ratio(
            Map<String, List<Server>> servers, String kind, BenchServer.Front over, BenchServer.Front under) {
        return micros(servers.get(name(kind, over))) / micros(servers.get(name(kind, under)));
    }

    /** The mean of the processes, each by its median. */
    private static double micros(List<Server> same) {
        return same.stream().mapToDouble(Server::median).average().orElseThrow();
    }

    private static String name(String kind, BenchServer.Front front) {
        return kind + ", " + front.text;
    }

    private static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        return sorted.get(sorted.size() / 2);
    }

    private record Server(Context context, Process process, int port, List<Double> micros) {
        static Server start(Context context, String kind, BenchServer.Front front) throws IOException {
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Xmx256m",
                            "-XX:+UseSerialGC",
                            "-classpath",
                            System.getProperty("java.class.path"),
                            BenchServer.class.getName(),
                            kind,
                            front.name())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            BufferedReader out =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            return new Server(context, process, Integer.parseInt(out.readLine().trim()), new ArrayList<>());
        }

        double round(HttpClient client, int requests) throws Exception {
            long before = cpu(client);
            AtomicInteger left = new AtomicInteger(requests);
            List<Future<Void>> lanes = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                Promise<Void> done = Promise.promise();
                lanes.add(done.future());
                onContext(() -> lane(client, left, done));
            }
            Future.all(lanes).toCompletionStage().toCompletableFuture().get(10, TimeUnit.MINUTES);
            return (cpu(client) - before) / 1e3 / requests;
        }

        private void lane(HttpClient client, AtomicInteger left, Promise<Void> done) {
            if (left.getAndDecrement() <= 0) {
                done.complete();
                return;
            }
            get(client, "/").onSuccess(body -> lane(client, left, done)).onFailure(done::tryFail);
        }

        private long cpu(HttpClient client) throws Exception {
            Promise<String> answer = Promise.promise();
            onContext(() -> get(client, "/cpu").onComplete(answer));
            return Long.parseLong(
                    answer.future().toCompletionStage().toCompletableFuture().get(1, TimeUnit.MINUTES));
        }

        /** A response's body is lost to whoever asks for it from another thread than the one it comes on. */
        private void onContext(Runnable action) {
            context.runOnContext(ignored -> action.run());
        }

        private Future<String> get(HttpClient client, String path) {
            return client.request(HttpMethod.GET, port, "127.0.0.1", path)
                    .compose(request -> request.send())
                    .compose(response -> response.statusCode() == 200
                            ? response.body().map(Object::toString)
                            : Future.failedFuture("status " + response.statusCode()));
        }

        double median() {
            return BenchMain.median(micros);
        }
    }
}
