package io.throttlekit.redis.bench;

import io.throttlekit.Program;
import io.throttlekit.conformance.RedisServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The tool that comes with Redis, where it is installed. */
final class RedisBenchmark {
    private static final Pattern RATE = Pattern.compile("([0-9.]+) requests per second");

    private RedisBenchmark() {}

    /** Requests per second of each round; empty without the tool. */
    static List<Double> rounds(RedisServer server, Program<?> program, String script, int rounds) throws Exception {
        String sha = String.valueOf(server.command("SCRIPT", "LOAD", script));
        String[] words = BenchMain.words(program, sha);
        words[2] = "tool:__rand_int__";
        List<String> command =
                new ArrayList<>(List.of("redis-benchmark", "-h", server.host(), "-p", String.valueOf(server.port())));
        command.addAll(List.of("-c", "1", "-P", "128", "-n", "500000", "-r", "1000", "-q", "EVALSHA"));
        command.addAll(Arrays.asList(words));
        List<Double> rates = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            String output;
            try {
                Process process =
                        new ProcessBuilder(command).redirectErrorStream(true).start();
                output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException e) {
                return List.of();
            }
            Matcher rate = RATE.matcher(output);
            if (rate.find()) {
                rates.add(Double.valueOf(rate.group(1)));
            }
        }
        return rates;
    }
}
