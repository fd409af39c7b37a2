package io.throttlekit.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** A {@link BenchServer}, seen from outside. */
final class ServerProcess implements AutoCloseable {
    private final Process process;
    private final Map<BenchServer.Front, Load> loads = new EnumMap<>(BenchServer.Front.class);

    private ServerProcess(Process process) {
        this.process = process;
    }

    static ServerProcess start(BenchServer.Kind kind) throws IOException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        // A thread that ends takes its CPU time with it.
                        "-XX:-UseDynamicNumberOfCompilerThreads",
                        "-classpath",
                        System.getProperty("java.class.path"),
                        BenchServer.class.getName(),
                        kind.name())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        ServerProcess server = new ServerProcess(process);
        try {
            server.connect();
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
        return server;
    }

    private void connect() throws IOException {
        BufferedReader ports =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.US_ASCII));
        for (BenchServer.Front front : BenchServer.Front.values()) {
            Load load = new Load(Integer.parseInt(ports.readLine().strip()));
            loads.put(front, load);
            boolean limited = load.response().toLowerCase(Locale.ROOT).contains("\r\nratelimit: ");
            if (limited == (front == BenchServer.Front.NONE || front == BenchServer.Front.EMPTY)) {
                throw new IllegalStateException("not what " + front + " answers: " + load.response());
            }
        }
    }

    /** Sends requests to one of the endpoints, and returns what CPU time the server took, in nanoseconds. */
    long turn(BenchServer.Front front, int requests, long intervalNanos) throws IOException {
        long before = cpuNanos();
        loads.get(front).send(requests, intervalNanos);
        return cpuNanos() - before;
    }

    /** Of all threads, in user mode and in the kernel: by the scheduler's own count, and elsewhere by the clock's ticks. */
    private long cpuNanos() throws IOException {
        Path threads = Path.of("/proc", Long.toString(process.pid()), "task");
        if (!Files.exists(threads)) {
            return process.info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
        }
        long sum = 0;
        List<Path> all;
        try (Stream<Path> list = Files.list(threads)) {
            all = list.toList();
        }
        for (Path thread : all) {
            String stat = Files.readString(thread.resolve("schedstat"));
            sum += Long.parseLong(stat.substring(0, stat.indexOf(' ')));
        }
        return sum;
    }

    @Override
    public void close() throws IOException {
        for (Load load : loads.values()) {
            load.close();
        }
        process.destroy();
    }
}
