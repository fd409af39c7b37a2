package io.throttlekit.examples.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;

class DemoPageRoutesTest {
    private static final String GOOD = "rate=120&limit=50&burst=20";
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private final DemoPage page = DemoPage.create();
    private final PageServer server = PageServer.start(page, 0);

    @AfterEach
    void stop() {
        server.close();
    }

    private HttpResponse<String> send(String method, String path) throws Exception {
        URI uri = URI.create(server.address(path));
        return CLIENT.send(
                HttpRequest.newBuilder(uri)
                        .method(method, BodyPublishers.noBody())
                        .timeout(Duration.ofSeconds(10))
                        .build(),
                BodyHandlers.ofString());
    }

    /** A visit, and what it has been told. */
    private record Watch(Disposable connection, Flux<String> text) {}

    private Watch visit() {
        Sinks.Many<String> text = Sinks.many().replay().limit(64);
        Disposable connection = reactor.netty.http.client.HttpClient.create()
                .get()
                .uri(server.address("/page/events?" + GOOD))
                .responseContent()
                .asString()
                .subscribe(text::tryEmitNext, text::tryEmitError, text::tryEmitComplete);
        return new Watch(connection, text.asFlux());
    }

    private static String firstMatch(Watch watch, String pattern) {
        Pattern compiled = Pattern.compile(pattern);
        return watch.text()
                .scan(String::concat)
                .map(compiled::matcher)
                .filter(Matcher::find)
                .map(found -> found.group(1))
                .next()
                .blockOptional(Duration.ofSeconds(10))
                .orElseThrow();
    }

    @ParameterizedTest
    @CsvSource({
        "/, text/html;charset=UTF-8",
        "/page/page.css, text/css;charset=UTF-8",
        "/page/page.js, text/javascript;charset=UTF-8",
        "/page/icon.svg, image/svg+xml;charset=UTF-8"
    })
    void servesItsFiles(String path, String type) throws Exception {
        HttpResponse<String> response = send("GET", path);

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("Content-Type")).hasValue(type);
        assertThat(response.body()).isNotBlank();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/page/nothing.js", "/page/..%2FDemoPage.class", "/page/DemoPage.class"})
    void servesNothingElse(String path) throws Exception {
        assertThat(send("GET", path).statusCode()).isEqualTo(404);
    }

    @Test
    void leavesOtherPathsAlone() throws Exception {
        assertThat(send("GET", "/hello").body()).isEqualTo("other");
    }

    @ParameterizedTest
    @CsvSource({
        "'', rate must be given once",
        "rate=1&rate=2&limit=50&burst=20, rate must be given once",
        "rate=fast&limit=50&burst=20, rate must be given once",
        "rate=1.5&limit=50&burst=20, rate must be given once",
        "rate=99999999999&limit=50&burst=20, rate must be given once",
        "rate=501&limit=50&burst=20, 'rate must be from 0 to 500, was 501'",
        "rate=-1&limit=50&burst=20, 'rate must be from 0 to 500, was -1'",
        "rate=1&limit=0&burst=20, 'limit must be from 1 to 200, was 0'",
        "rate=1&limit=50&burst=101, 'burst must be from 1 to 100, was 101'",
    })
    void refusesKnobsThatThereAreNot(String query, String detail) throws Exception {
        HttpResponse<String> opened = send("GET", "/page/events?" + query);
        HttpResponse<String> turned = send("PUT", "/page/visits/any?" + query);

        for (HttpResponse<String> response : List.of(opened, turned)) {
            assertThat(response.statusCode()).isEqualTo(400);
            assertThat(response.headers().firstValue("Content-Type")).hasValue("application/problem+json");
            assertThat(response.body()).contains(detail);
        }
        server.awaitVisitors(0);
    }

    @Test
    void knowsNoVisitThatHasEnded() throws Exception {
        Watch watch = visit();
        String id = firstMatch(watch, "\"id\":\"([^\"]+)\"");
        assertThat(send("PUT", "/page/visits/" + id + "?" + GOOD).statusCode()).isEqualTo(204);
        assertThat(send("POST", "/page/visits/" + id + "/spike").statusCode()).isEqualTo(204);

        watch.connection().dispose();
        server.awaitVisitors(0);

        assertThat(send("PUT", "/page/visits/" + id + "?" + GOOD).statusCode()).isEqualTo(404);
        assertThat(send("POST", "/page/visits/" + id + "/spike").statusCode()).isEqualTo(404);
    }

    @Test
    void turnsTheKnobsOfAVisit() throws Exception {
        Watch watch = visit();
        String id = firstMatch(watch, "\"id\":\"([^\"]+)\"");

        send("PUT", "/page/visits/" + id + "?rate=333&limit=11&burst=7");

        assertThat(firstMatch(watch, "\"knobs\":(\\{\"rate\":333,\"limit\":11,\"burst\":7})"))
                .isNotNull();
        watch.connection().dispose();
    }

    @Test
    void hasSoManySeatsAndNoMore() throws Exception {
        List<Disposable> seated = new ArrayList<>();
        for (int seat = 0; seat < DemoPage.SEATS; seat++) {
            seated.add(visit().connection());
        }
        server.awaitVisitors(DemoPage.SEATS);

        HttpResponse<String> refused = send("GET", "/page/events?" + GOOD);

        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(refused.headers().firstValue("Retry-After")).hasValue("10");
        assertThat(refused.headers().firstValue("Content-Type")).hasValue("application/problem+json");
        assertThat(refused.body()).contains("seats are taken");
        // Everything else is served all the same.
        assertThat(send("GET", "/").statusCode()).isEqualTo(200);
        seated.forEach(Disposable::dispose);
        server.awaitVisitors(0);
    }
}
