package io.throttlekit.conformance;

import com.fasterxml.jackson.databind.JsonNode;
import io.throttlekit.Decision;
import io.throttlekit.Forecast;
import io.throttlekit.Store;
import io.throttlekit.Strategy;
import io.throttlekit.conformance.VectorReplay.Kind;
import io.throttlekit.conformance.VectorReplay.Player;
import io.throttlekit.strategy.FixedWindow;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.Quota;
import io.throttlekit.strategy.SlidingWindow;
import io.throttlekit.strategy.SlidingWindowLog;
import io.throttlekit.strategy.TokenBucket;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The kinds of vectors that are strategies, and beside them the shaper's: how each is built of its options, and how one is played. */
final class StrategyKinds {
    private static final long DEFAULT_BUCKETS = 10;

    private StrategyKinds() {}

    static Map<String, Kind> all() {
        Map<String, Function<Fields, Strategy<?>>> makers = Map.of(
                "gcra",
                StrategyKinds::gcra,
                "tokenBucket",
                StrategyKinds::tokenBucket,
                "fixedWindow",
                o -> FixedWindow.of(o.whole("limit"), o.millis("windowMs")),
                "slidingWindow",
                o -> SlidingWindow.of(o.whole("limit"), o.millis("windowMs"), buckets(o)),
                "slidingWindowLog",
                o -> SlidingWindowLog.of(o.whole("limit"), o.millis("windowMs")),
                "quota",
                StrategyKinds::quota);
        Map<String, Kind> kinds = new HashMap<>();
        makers.forEach((name, maker) -> kinds.put(
                name, (options, store, key) -> new StrategyPlayer<>(maker.apply(Fields.of(options)), store, key)));
        kinds.put("leakyBucket", ShaperKind::leakyBucket);
        return kinds;
    }

    private static Strategy<?> gcra(Fields o) {
        Gcra gcra = Gcra.of(o.decimal("limit"), o.millis("periodMs"));
        return o.has("burst") ? gcra.withBurst(o.whole("burst")) : gcra;
    }

    private static Strategy<?> tokenBucket(Fields o) {
        return TokenBucket.of(o.whole("capacity"), o.decimal("refillTokens"), o.millis("refillPeriodMs"));
    }

    private static Strategy<?> quota(Fields o) {
        long limit = o.whole("limit");
        String cadence = o.text("cadence", "");
        return switch (cadence) {
            case "calendar-month" -> Quota.monthly(limit).in(zone(o));
            case "calendar-week" ->
                Quota.weekly(limit).in(zone(o)).startingOn(DayOfWeek.of(Math.toIntExact(o.whole("weekStartsOn", 1))));
            case "calendar-day" -> Quota.daily(limit).in(zone(o));
            case "fixed" ->
                Quota.fixed(limit, o.millis("periodMs")).anchoredAt(Instant.ofEpochMilli(o.whole("anchorMs", 0)));
            case "rolling" -> Quota.rolling(limit, o.millis("periodMs"), buckets(o));
            default -> throw new IllegalArgumentException("there is no cadence \"" + cadence + "\"");
        };
    }

    private static ZoneId zone(Fields o) {
        return ZoneId.of(o.text("zone", "UTC"));
    }

    private static int buckets(Fields o) {
        return Math.toIntExact(o.whole("buckets", DEFAULT_BUCKETS));
    }

    private record StrategyPlayer<S>(Strategy<S> strategy, Store store, String key) implements Player {
        @Override
        public Mono<Map<String, Object>> play(JsonNode node) {
            Fields op = Fields.of(node);
            String name = op.text("op", "");
            return switch (name) {
                case "check" -> checked(op.whole("cost", 1), op.whole("cost", 1));
                case "checkUpTo" -> checked(op.whole("min"), op.whole("max"));
                case "peek" -> store.apply(key, strategy.peek()).map(StrategyPlayer::fields);
                case "refund" ->
                    store.apply(key, strategy.refund(op.whole("cost", 1), charged(op)))
                            .map(given -> Map.of());
                case "forecast" ->
                    store.apply(key, strategy.forecast(op.whole("cost", 1))).map(StrategyPlayer::fields);
                default -> throw new IllegalArgumentException("there is no operation \"" + name + "\"");
            };
        }

        private Mono<Map<String, Object>> checked(long min, long max) {
            return store.apply(key, strategy.check(min, max)).map(StrategyPlayer::fields);
        }

        /** A decision of which only the reset matters. */
        private static @Nullable Decision charged(Fields op) {
            return op.has("resetAtMs") ? Decision.allowed(1, 1, 0, op.whole("resetAtMs"), 0) : null;
        }

        private static Map<String, Object> fields(Decision decision) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("allowed", decision.allowed());
            fields.put("granted", decision.granted());
            fields.put("limit", decision.limit());
            fields.put("remaining", decision.remaining());
            fields.put("resetAtMs", decision.resetAtMs());
            fields.put("retryAfterMs", decision.retryAfterMs());
            fields.put("decidedAtMs", decision.decidedAtMs());
            return fields;
        }

        private static Map<String, Object> fields(Forecast forecast) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("spendableNow", forecast.spendableNow());
            fields.put("nextReplenishAtMs", forecast.nextReplenishAtMs());
            fields.put("fullAtMs", forecast.fullAtMs());
            fields.put("decidedAtMs", forecast.decidedAtMs());
            return fields;
        }
    }
}
