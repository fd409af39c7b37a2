package io.throttlekit.conformance;

import com.fasterxml.jackson.databind.JsonNode;
import io.throttlekit.Store;
import io.throttlekit.conformance.VectorReplay.Player;
import io.throttlekit.shaping.LeakyBucket;
import io.throttlekit.shaping.Reservation;
import io.throttlekit.shaping.Shaper;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The kind of vectors that is a shaper: it reserves, and gives its newest reservation back. */
final class ShaperKind {
    private ShaperKind() {}

    static Player leakyBucket(JsonNode node, Store store, String key) {
        Fields options = Fields.of(node);
        Shaper shaper = LeakyBucket.of(options.decimal("rate"), options.millis("ratePeriodMs"))
                .maxQueue(options.millis("maxQueueMs"))
                .store(store)
                .build();
        return new ShaperPlayer(shaper, key);
    }

    private static final class ShaperPlayer implements Player {
        private final Shaper shaper;
        private final String key;
        private @Nullable Reservation newest;

        ShaperPlayer(Shaper shaper, String key) {
            this.shaper = shaper;
            this.key = key;
        }

        @Override
        public Mono<Map<String, Object>> play(JsonNode node) {
            Fields op = Fields.of(node);
            String name = op.text("op", "");
            return switch (name) {
                case "reserve" -> shaper.reserve(key, op.whole("cost", 1)).map(this::fields);
                case "cancel" -> cancel();
                default -> throw new IllegalArgumentException("there is no operation \"" + name + "\"");
            };
        }

        private Map<String, Object> fields(Reservation reservation) {
            newest = reservation;
            return Map.of(
                    "accepted", reservation.accepted(),
                    "delayMs", reservation.delayMs(),
                    "delayMicros", reservation.delayMicros());
        }

        private Mono<Map<String, Object>> cancel() {
            if (newest == null) {
                throw new IllegalArgumentException("there is no reservation to cancel");
            }
            return shaper.cancel(newest).map(given -> Map.of());
        }
    }
}
