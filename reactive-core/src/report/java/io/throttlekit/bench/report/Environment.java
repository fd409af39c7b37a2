package io.throttlekit.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;

/** What the figures were measured on. */
final class Environment {
    private Environment() {}

    static Map<String, String> now(String run) {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("Date", run);
        all.put("CPU", first("/proc/cpuinfo", "model name", System.getProperty("os.arch")));
        all.put("Cores", String.valueOf(Runtime.getRuntime().availableProcessors()));
        all.put("Memory", first("/proc/meminfo", "MemTotal", "unknown"));
        all.put("OS", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        all.put("JVM", System.getProperty("java.vm.name") + " " + System.getProperty("java.runtime.version"));
        all.put("Versions", System.getProperty("bench.versions", ""));
        return all;
    }

    /** The value of the first line with that name; Linux only, and the fallback elsewhere. */
    private static String first(String file, String name, String fallback) {
        try (Stream<String> lines = Files.lines(Path.of(file))) {
            return lines.filter(line -> line.startsWith(name))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse(fallback);
        } catch (IOException e) {
            return fallback;
        }
    }
}
