package io.throttlekit.webflux;

import io.throttlekit.QueueFullException;
import io.throttlekit.shaping.Shaper;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;
import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.ExchangeFilterFunction;
import org.springframework.web.reactive.function.client.ExchangeFunction;
import reactor.core.publisher.Mono;

/**
 * Sends the requests of a {@code WebClient} one by one, at the rate of a shaper, in one line per host.
 *
 * <pre>{@code
 * Shaper shaper = LeakyBucket.of(5, Duration.ofSeconds(1)).maxQueue(Duration.ofSeconds(2)).build();
 * WebClient client = WebClient.builder().filter(PacingExchangeFilter.of(shaper)).build();
 * }</pre>
 *
 * <p>A request waits for its departure before anything is sent, without blocking, and goes on on the shaper's
 * scheduler, or on the subscriber's thread when there is nothing to wait for. When the line is longer than the
 * shaper's {@code maxQueue}, the exchange fails with {@link QueueFullException} at once. Cancelling a request that
 * waits gives its place back, if it is the last in line.
 */
public final class PacingExchangeFilter implements ExchangeFilterFunction {
    private final Shaper shaper;
    private final Function<? super ClientRequest, String> key;

    private PacingExchangeFilter(Shaper shaper, Function<? super ClientRequest, String> key) {
        this.shaper = Objects.requireNonNull(shaper, "shaper");
        this.key = Objects.requireNonNull(key, "key");
    }

    /**
     * A filter with one line per host name, whatever the port and the scheme.
     *
     * @param shaper the rate and the longest wait
     * @return a new filter
     */
    public static PacingExchangeFilter of(Shaper shaper) {
        return new PacingExchangeFilter(shaper, PacingExchangeFilter::host);
    }

    /**
     * The same filter with other lines.
     *
     * @param key names the line of a request, on the thread that sends it; what it throws fails the exchange
     * @return a new filter
     */
    public PacingExchangeFilter keyedBy(Function<? super ClientRequest, String> key) {
        return new PacingExchangeFilter(shaper, key);
    }

    private static String host(ClientRequest request) {
        String host = request.url().getHost();
        if (host == null) {
            throw new IllegalArgumentException("the request's URL must have a host");
        }
        return host.toLowerCase(Locale.ROOT);
    }

    @Override
    public Mono<ClientResponse> filter(ClientRequest request, ExchangeFunction next) {
        return Mono.defer(() -> shaper.schedule(key.apply(request))).then(Mono.defer(() -> next.exchange(request)));
    }
}
