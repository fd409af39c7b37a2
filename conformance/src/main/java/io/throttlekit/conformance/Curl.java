package io.throttlekit.conformance;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Runs {@code curl}, where there is one. Blocking: for test threads. */
final class Curl {
    private Curl() {}

    static boolean isPresent() {
        String path = System.getenv().getOrDefault("PATH", "");
        return Stream.of(path.split(":", -1)).anyMatch(folder -> Files.isExecutable(Path.of(folder, "curl")));
    }

    /** Sends requests one after the other, on one connection where the server keeps it. */
    static List<String> statuses(Path body, List<List<String>> requests) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add("curl");
        for (int i = 0; i < requests.size(); i++) {
            if (i > 0) {
                command.add("--next");
            }
            command.addAll(List.of("-sS", "--max-time", "60", "-w", "%{http_code}\n", "-o", body.toString()));
            command.addAll(requests.get(i));
        }
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(10, TimeUnit.SECONDS)) {
            process.destroyForcibly();
        }
        return out.lines().toList();
    }
}
