package io.throttlekit.peers;

import io.throttlekit.conformance.PostgresServer;
import io.throttlekit.conformance.PostgresServers;
import io.throttlekit.conformance.RedisServer;
import io.throttlekit.conformance.RedisServers;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Runs every case on this library and on the others, on servers of its own, and prints a table. Exits with an error
 * when a case fails here, whatever the others do.
 */
public final class Main {
    private static final int TRIES = 3;
    private static final List<Class<? extends Library>> LIBRARIES = List.of(
            ThrottleKit.Memory.class,
            ThrottleKit.OnRedis.class,
            ThrottleKit.OnPostgres.class,
            Bucket4j.Local.class,
            Bucket4j.OnRedis.class,
            Bucket4j.OnPostgres.class,
            Resilience4j.class,
            Guava.class,
            Failsafe.class,
            RedissonLibrary.class,
            Gateway.class);

    private final List<Case> cases = Case.all();
    private final Map<String, Map<Case, String>> results = new LinkedHashMap<>();
    private final List<String> notes = new ArrayList<>();
    private boolean passed = true;

    private Main() {}

    /** Takes no arguments. */
    public static void main(String[] args) throws Exception {
        Main main = new Main();
        try (RedisServer redis = RedisServers.own();
                PostgresServer postgres = PostgresServers.own(Map.of())) {
            String database = postgres.createDatabase();
            main.run(
                    new Servers(
                            redis.uri(),
                            postgres.uri(database),
                            "jdbc:postgresql://" + postgres.host() + ":" + postgres.port() + "/" + database),
                    () -> redis.command("SCRIPT", "FLUSH"));
            main.print();
        } catch (Exception e) {
            e.printStackTrace();
            System.exit(2);
        }
        System.exit(main.passed ? 0 : 1);
    }

    private void run(Servers servers, Runnable scriptFlush) throws Exception {
        List<Subject> subjects = new ArrayList<>();
        for (Class<? extends Library> type : LIBRARIES) {
            Library library = type.getConstructor(Servers.class).newInstance(servers);
            subjects.add(new Subject(type, library, servers, scriptFlush));
            results.put(library.name(), new LinkedHashMap<>());
        }
        // What mostly waits, waits together, in two lanes for each library; what needs the machine has it alone.
        List<Case> together = cases.stream().filter(c -> !c.alone()).toList();
        ExecutorService threads = Executors.newFixedThreadPool(2 * subjects.size());
        List<Future<?>> running = new ArrayList<>();
        for (int lane = 0; lane < 2; lane++) {
            for (Subject subject : subjects) {
                int first = lane;
                running.add(threads.submit(() -> {
                    for (int i = first; i < together.size(); i += 2) {
                        run(together.get(i), subject);
                    }
                }));
            }
        }
        for (Future<?> one : running) {
            one.get();
        }
        threads.shutdown();
        for (Subject subject : subjects) {
            cases.stream().filter(Case::alone).forEach(c -> run(c, subject));
        }
        for (Subject subject : subjects) {
            subject.library().close();
        }
    }

    /** A busy machine can spoil a trial, so what fails is tried again. */
    private void run(Case tried, Subject subject) {
        String result = "";
        for (int time = 0; time < TRIES; time++) {
            try {
                tried.trial().run(subject);
                result = "pass";
                break;
            } catch (NotApplicable e) {
                result = "-" + e.getMessage();
                break;
            } catch (Case.Failure e) {
                result = "FAIL (" + e.getMessage() + ")";
            } catch (Exception e) {
                System.err.println(subject.library().name() + ", " + tried.name() + ": " + e);
                result = "FAIL (" + e.getClass().getSimpleName() + ")";
            }
        }
        boolean ours = subject.library() instanceof ThrottleKit;
        synchronized (results) {
            results.get(subject.library().name()).put(tried, result);
            passed &= !ours || !result.startsWith("FAIL");
        }
    }

    private void print() {
        StringBuilder table = new StringBuilder("| library |");
        cases.forEach(c -> table.append(' ').append(c.name()).append(" |"));
        table.append("\n|").append("---|".repeat(cases.size() + 1)).append('\n');
        results.forEach((library, byCase) -> {
            table.append("| ").append(library).append(" |");
            cases.forEach(c ->
                    table.append(' ').append(cell(byCase.getOrDefault(c, ""))).append(" |"));
            table.append('\n');
        });
        System.out.println(table);
        for (int i = 0; i < notes.size(); i++) {
            System.out.println((i + 1) + ". Not asked: " + notes.get(i) + ".");
        }
        System.out.println();
        cases.forEach(c -> System.out.println("* **" + c.name() + "**: " + c.asserted()));
        System.out.println("\nA case that fails is tried " + TRIES + " times, since a busy machine can spoil one.");
    }

    private String cell(String result) {
        if (!result.startsWith("-")) {
            return result;
        }
        String reason = result.substring(1);
        if (!notes.contains(reason)) {
            notes.add(reason);
        }
        return "- [" + (notes.indexOf(reason) + 1) + "]";
    }
}
