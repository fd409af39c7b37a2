package io.throttlekit.redis;

import io.throttlekit.conformance.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a server tells of itself. */
final class Info {
    private static final Pattern STAT = Pattern.compile("cmdstat_([a-z|]+):calls=(\\d+)");
    private static final List<String> WRITES =
            List.of("set", "hset", "zadd", "pexpire", "del", "unlink", "zremrangebyscore", "zremrangebyrank");

    private Info() {}

    /** How often commands were called, from scripts or not. */
    static long calls(RedisServer server, String... commands) {
        List<String> wanted = List.of(commands);
        Matcher stat = STAT.matcher(String.valueOf(server.command("INFO", "commandstats")));
        long sum = 0;
        while (stat.find()) {
            if (wanted.contains(stat.group(1).toLowerCase(Locale.ROOT))) {
                sum += Long.parseLong(stat.group(2));
            }
        }
        return sum;
    }

    static long writes(RedisServer server) {
        return calls(server, WRITES.toArray(new String[0]));
    }

    /** Connections without the one that asks. */
    static int clients(RedisServer server) {
        return (int) String.valueOf(server.command("CLIENT", "LIST"))
                        .lines()
                        .filter(line -> !line.isBlank())
                        .count()
                - 1;
    }

    static List<String> keys(RedisServer server) {
        List<String> keys = new ArrayList<>();
        if (server.command("KEYS", "*") instanceof List<?> found) {
            found.forEach(key -> keys.add(String.valueOf(key)));
        }
        return keys;
    }

    /** Milliseconds a key has left. */
    static long ttl(RedisServer server, String key) {
        return Long.parseLong(String.valueOf(server.command("PTTL", key)));
    }

    static List<String> keysWithoutTtl(RedisServer server) {
        return keys(server).stream().filter(key -> ttl(server, key) == -1).toList();
    }
}
