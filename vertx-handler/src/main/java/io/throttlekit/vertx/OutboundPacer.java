package io.throttlekit.vertx;

import io.throttlekit.QueueFullException;
import io.throttlekit.shaping.Shaper;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.RequestOptions;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * Makes outbound calls one by one, at the rate of a shaper, in one line per host.
 *
 * <pre>{@code
 * OutboundPacer pacer = OutboundPacer.create(vertx, shaper);
 *
 * pacer.request(httpClient, new RequestOptions().setHost("api.example.com").setURI("/")).compose(...);
 * pacer.call("api.example.com", () -> webClient.getAbs("https://api.example.com/").send());
 * }</pre>
 *
 * <p>A call waits for its departure before it is made, without blocking. It is made, and its future completes, on
 * the context of the caller; at once, when there is nothing to wait for. When the line is longer than the shaper's
 * {@code maxQueue}, the future fails with {@link QueueFullException} and no call is made. A future cannot be
 * cancelled, so a place that was taken is used.
 */
public final class OutboundPacer {
    private final Vertx vertx;
    private final Shaper shaper;

    private OutboundPacer(Vertx vertx, Shaper shaper) {
        this.vertx = Objects.requireNonNull(vertx, "vertx");
        this.shaper = Objects.requireNonNull(shaper, "shaper");
    }

    /**
     * A pacer.
     *
     * @param vertx where the calls are made
     * @param shaper the rate and the longest wait
     * @return a new pacer
     */
    public static OutboundPacer create(Vertx vertx, Shaper shaper) {
        return new OutboundPacer(vertx, shaper);
    }

    /**
     * Opens a request when its turn comes, in the line of its host, whatever the port.
     *
     * @param client what makes the request
     * @param options the request; they must name a host, and must not be changed afterwards
     * @return the request, ready to be sent
     * @throws IllegalArgumentException if there is no host
     */
    public Future<HttpClientRequest> request(HttpClient client, RequestOptions options) {
        String host = options.getHost();
        if (host == null) {
            throw new IllegalArgumentException("the options must name a host");
        }
        return call(host.toLowerCase(Locale.ROOT), () -> client.request(options));
    }

    /**
     * Makes a call when its turn comes.
     *
     * @param key names the line, such as a host
     * @param call makes the call; what it throws fails the future
     * @param <T> what the call answers
     * @return what the call answers, or {@link QueueFullException} or the store's failure
     */
    public <T> Future<T> call(String key, Supplier<Future<T>> call) {
        Objects.requireNonNull(call, "call");
        Promise<Void> turn = Promise.promise();
        Turn waiting = new Turn(vertx.getOrCreateContext(), turn);
        shaper.schedule(key).subscribe(waiting);
        waiting.leaveTheCall();
        return turn.future().compose(ignored -> call.get());
    }
}
