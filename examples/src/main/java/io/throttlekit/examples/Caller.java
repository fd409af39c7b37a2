package io.throttlekit.examples;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A client that prints a line per response: whose request it was, the status, and what the limit tells in the
 * response's fields.
 *
 * @param port where the server listens on loopback
 * @param out where to print
 */
record Caller(int port, PrintStream out) {
    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static final List<String> FIELDS = List.of("RateLimit-Policy", "RateLimit", "Retry-After");

    /** Asks once, waits for the answer and prints it. */
    void get(String path, String apiKey) {
        HttpResponse<String> response = response(path, apiKey);
        String fields = FIELDS.stream()
                .flatMap(name -> response.headers().allValues(name).stream().map(value -> ", " + name + ": " + value))
                .collect(Collectors.joining());
        out.println(apiKey + " " + path + ": " + response.statusCode() + fields);
    }

    private HttpResponse<String> response(String path, String apiKey) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .header("X-Api-Key", apiKey)
                .timeout(Duration.ofSeconds(10))
                .build();
        try {
            return CLIENT.send(request, BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for " + path, e);
        }
    }
}
