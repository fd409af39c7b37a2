package io.throttlekit.examples.readme;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/** A client of the servers under test. */
final class Http {
    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private Http() {}

    static HttpResponse<String> get(int port, String path, String... fields) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .timeout(Duration.ofSeconds(30));
        HttpRequest sent = (fields.length == 0 ? request : request.headers(fields)).build();
        return CLIENT.sendAsync(sent, BodyHandlers.ofString()).join();
    }
}
