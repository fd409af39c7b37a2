package io.throttlekit.webflux.autoconfigure;

import io.throttlekit.FailMode;
import io.throttlekit.http.ClientAddress;
import io.throttlekit.http.RateLimitHeaders;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties of the auto-configuration. Wrong values fail the start, with the property in the message.
 *
 * @param enabled whether there are limits at all
 * @param failMode what becomes of a request when the store cannot decide; required, there is no default
 * @param store where the state is kept; a bean of type {@code Store} wins over it
 * @param memory of the store in memory
 * @param redis of the store in Redis
 * @param postgres of the store in PostgreSQL
 * @param order of the filter among the web filters
 * @param headers the families of response headers
 * @param outageRetryAfter the {@code Retry-After} of a 503
 * @param keySecret hashes all keys with this text of at least 16 bytes; none leaves them readable
 * @param client how the address of a client is found
 * @param limits by name
 */
@ConfigurationProperties("throttlekit")
public record ThrottleKitProperties(
        @DefaultValue("true") boolean enabled,
        @Nullable FailMode failMode,
        @DefaultValue("memory") StoreKind store,
        @DefaultValue Memory memory,
        @DefaultValue Remote redis,
        @DefaultValue Remote postgres,
        @DefaultValue("-110") int order,
        @DefaultValue("structured-draft-11") List<RateLimitHeaders.Family> headers,
        @DefaultValue("1s") Duration outageRetryAfter,
        @Nullable String keySecret,
        @DefaultValue Client client,
        @DefaultValue Map<String, Limit> limits) {
    /** Checks what can be checked without the limits. */
    public ThrottleKitProperties {
        headers = List.copyOf(headers);
        limits = Map.copyOf(limits);
        positive("throttlekit.outage-retry-after", outageRetryAfter);
    }

    private static void positive(String property, Duration value) {
        if (value.isZero() || value.isNegative()) {
            throw new IllegalArgumentException(property + " must be more than zero, was " + value);
        }
    }

    /** Where the state is kept. */
    public enum StoreKind {
        /** In this process. */
        MEMORY,
        /** In Redis; needs {@code throttlekit-reactive-redis}. */
        REDIS,
        /** In PostgreSQL; needs {@code throttlekit-reactive-pg}. */
        POSTGRES
    }

    /** The strategies that properties can choose. */
    public enum StrategyKind {
        /** Spread evenly, with a burst. */
        GCRA,
        /** A bucket of {@code burst} tokens, refilled by {@code limit} per {@code period}. */
        TOKEN_BUCKET,
        /** A count per window of the clock. */
        FIXED_WINDOW,
        /** A count over a window that slides in steps. */
        SLIDING_WINDOW,
        /** An exact log of a window that slides. */
        SLIDING_WINDOW_LOG,
        /** A count per day of the calendar. */
        DAILY_QUOTA,
        /** A count per week of the calendar, from Monday. */
        WEEKLY_QUOTA,
        /** A count per month of the calendar. */
        MONTHLY_QUOTA
    }

    /**
     * The store in memory.
     *
     * @param maxKeys the most keys it remembers
     */
    public record Memory(@DefaultValue("100000") int maxKeys) {
        /** Checks the number. */
        public Memory {
            if (maxKeys < 1) {
                throw new IllegalArgumentException("throttlekit.memory.max-keys must be at least 1, was " + maxKeys);
            }
        }
    }

    /**
     * A store on another machine.
     *
     * @param uri where it is; required for the store that is chosen
     * @param deadline how long a check may wait for it; the store's own default when there is none
     */
    public record Remote(@Nullable String uri, @Nullable Duration deadline) {
        @Override
        public String toString() {
            // The address may have a password in it.
            return "Remote[deadline=" + deadline + "]";
        }
    }

    /** What answers a check, between the application and the store. */
    public enum Tier {
        /** The store. */
        NONE,
        /** A denial is kept for as long as it holds. */
        CACHED_DENY,
        /** Units are taken from the store in batches and spent here. */
        LEASED
    }

    /**
     * How the address of a client is found.
     *
     * @param trustHops how many proxies stand before this server; 0 for none or for {@code trustedProxies}
     * @param trustedProxies the networks of the proxies
     * @param field what the proxies tell the address in
     * @param ipv6PrefixBits how many bits of an IPv6 address tell clients apart
     */
    public record Client(
            @DefaultValue("0") int trustHops,
            @DefaultValue List<String> trustedProxies,
            @DefaultValue("x-forwarded-for") ClientAddress.Field field,
            @DefaultValue("64") int ipv6PrefixBits) {
        /** Copies the list. */
        public Client {
            trustedProxies = List.copyOf(trustedProxies);
        }

        ClientAddress address() {
            ClientAddress.Builder address = ClientAddress.builder().field(field).ipv6PrefixBits(ipv6PrefixBits);
            if (trustHops != 0) {
                address.trustHops(trustHops);
            }
            return address.trustProxies(trustedProxies.toArray(String[]::new)).build();
        }
    }

    /**
     * A limit.
     *
     * @param paths patterns of the paths it is for, such as {@code /api/**}; none when it is for
     *     {@code @RateLimited} methods only
     * @param methods the HTTP methods it is for; none for all
     * @param strategy what decides
     * @param limit units per period; required
     * @param period the period or window; required, except for the quotas of a calendar
     * @param zone the time zone of the calendar
     * @param burst units at once; the limit by default
     * @param key what tells clients apart: {@code address}, {@code principal}, {@code path-template}, {@code header:Name}
     *     or the name of a bean of type {@code Key}; several together make one key
     * @param onMissingKey {@code error}, {@code unlimited} or {@code shared}
     * @param cost units per request
     * @param dryRun whether it only looks on
     * @param tier what answers a check before the store does
     * @param leaseBatch how many units to lease at once
     */
    public record Limit(
            @DefaultValue List<String> paths,
            @DefaultValue List<String> methods,
            @DefaultValue("gcra") StrategyKind strategy,
            @Nullable Long limit,
            @Nullable Duration period,
            @DefaultValue("UTC") ZoneId zone,
            @Nullable Long burst,
            @DefaultValue("address") List<String> key,
            @DefaultValue("error") Missing onMissingKey,
            @DefaultValue("1") long cost,
            @DefaultValue("false") boolean dryRun,
            @DefaultValue("none") Tier tier,
            @DefaultValue("10") long leaseBatch) {
        /** Copies the lists. */
        public Limit {
            paths = List.copyOf(paths);
            methods = List.copyOf(methods);
            key = List.copyOf(key);
        }

        /** What becomes of a request without a key. */
        public enum Missing {
            /** It is an error. */
            ERROR,
            /** It is not limited. */
            UNLIMITED,
            /** It shares one key with all others that have none. */
            SHARED
        }
    }
}
