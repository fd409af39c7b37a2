package io.throttlekit.http;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Request heads made up for a test. */
record Heads(String method, @Nullable String peer, Map<String, List<String>> all) implements RequestHead {
    static Heads from(@Nullable String peer) {
        return new Heads("GET", peer, Map.of());
    }

    Heads with(String name, String... values) {
        Map<String, List<String>> more = new TreeMap<>(all);
        more.computeIfAbsent(name.toLowerCase(Locale.ROOT), n -> new ArrayList<>())
                .addAll(List.of(values));
        return new Heads(method, peer, more);
    }

    Heads method(String other) {
        return new Heads(other, peer, all);
    }

    @Override
    public List<String> fields(String name) {
        return all.getOrDefault(name.toLowerCase(Locale.ROOT), List.of());
    }
}
