package io.throttlekit.examples.page;

import static org.springframework.http.HttpStatus.BAD_REQUEST;
import static org.springframework.http.HttpStatus.NOT_FOUND;
import static org.springframework.http.HttpStatus.SERVICE_UNAVAILABLE;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.reactive.function.BodyInserters;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The page at {@code /} and its stream of events at {@code /page/events}.
 *
 * <p>A stream is a visit: it has limiters and a load of its own, which begin and end with it. Its first event,
 * {@code visit}, names it, so that {@code PUT /page/visits/ID?rate=&limit=&burst=} can turn its knobs and
 * {@code POST /page/visits/ID/spike} can send a spike; each {@code frame} after that tells what happened. There is
 * room for {@link #SEATS} visits at a time; who comes then is answered with 503.
 */
public final class DemoPage {
    /** How many visits there can be at a time. */
    public static final int SEATS = 24;

    private static final String EVENTS = "/page/events";

    private static final List<String> FILES = List.of(
            "index.html", "page.css", "page.js", "visit.js", "lanes.js", "shaper.js", "fleet.js", "svg.js", "icon.svg");

    private static final Map<String, String> TYPES =
            Map.of("html", "text/html", "css", "text/css", "js", "text/javascript", "svg", "image/svg+xml");

    private static final String FULL = "{\"status\":503,\"title\":\"Service Unavailable\",\"detail\":\"All " + SEATS
            + " seats are taken. Somebody will leave.\"}";

    private final Map<String, File> files;
    private final Map<String, Visit> visits = new ConcurrentHashMap<>();
    private final Semaphore seats = new Semaphore(SEATS);

    private DemoPage(Map<String, File> files) {
        this.files = files;
    }

    /** A file that the browser gets. */
    private record File(MediaType type, String content) {
        static File read(String name) {
            String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
            try (InputStream in = DemoPage.class.getResourceAsStream(name)) {
                if (type == null || in == null) {
                    throw new IllegalStateException("not on the class path, or of no known type: " + name);
                }
                return new File(
                        MediaType.valueOf(type + ";charset=UTF-8"),
                        new String(in.readAllBytes(), StandardCharsets.UTF_8));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /**
     * A page that nobody looks at yet. This reads its files, so that no event loop has to.
     *
     * @return a new page
     */
    public static DemoPage create() {
        return new DemoPage(FILES.stream().collect(Collectors.toMap(Function.identity(), File::read)));
    }

    /**
     * How many look at it now.
     *
     * @return 0 to {@link #SEATS}
     */
    public int visitors() {
        return SEATS - seats.availablePermits();
    }

    /**
     * What is served: {@code /} and everything below {@code /page/}.
     *
     * @return the routes, which need the filter {@link #seats}
     */
    public RouterFunction<ServerResponse> routes() {
        return RouterFunctions.route()
                .GET("/", request -> file("index.html"))
                .GET(EVENTS, this::open)
                .PUT("/page/visits/{id}", this::turn)
                .POST("/page/visits/{id}/spike", request -> visit(request, Visit::spike))
                .GET("/page/{file}", request -> file(request.pathVariable("file")))
                .build();
    }

    /**
     * Bounds the visits. A filter, because only that sees an exchange from its beginning to whichever end.
     *
     * @return the filter, which leaves everything but the stream alone
     */
    public WebFilter seats() {
        return (exchange, chain) -> exchange.getRequest().getPath().value().equals(EVENTS)
                ? seated(exchange, chain)
                : chain.filter(exchange);
    }

    private Mono<Void> seated(ServerWebExchange exchange, WebFilterChain chain) {
        return Mono.defer(() -> seats.tryAcquire()
                ? Mono.defer(() -> chain.filter(exchange)).doFinally(end -> seats.release())
                : full(exchange.getResponse()));
    }

    private static Mono<Void> full(ServerHttpResponse response) {
        response.setStatusCode(SERVICE_UNAVAILABLE);
        response.getHeaders().setContentType(MediaType.APPLICATION_PROBLEM_JSON);
        response.getHeaders().set(HttpHeaders.RETRY_AFTER, "10");
        return response.writeWith(
                Mono.fromSupplier(() -> response.bufferFactory().wrap(FULL.getBytes(StandardCharsets.UTF_8))));
    }

    private Mono<ServerResponse> file(String name) {
        File file = files.get(name);
        if (file == null) {
            return problem(NOT_FOUND, "there is no such file");
        }
        return ServerResponse.ok()
                .contentType(file.type())
                .header(HttpHeaders.CACHE_CONTROL, "no-cache")
                .header("Content-Security-Policy", "default-src 'self'")
                .header("X-Content-Type-Options", "nosniff")
                .bodyValue(file.content());
    }

    private Mono<ServerResponse> open(ServerRequest request) {
        // Names are random so that nobody turns another's knobs, and randomness may have to be waited for.
        return withKnobs(
                request,
                knobs -> Mono.fromCallable(UUID::randomUUID)
                        .subscribeOn(Schedulers.boundedElastic())
                        .flatMap(id -> ServerResponse.ok()
                                .header(HttpHeaders.CACHE_CONTROL, "no-store")
                                .body(BodyInserters.fromServerSentEvents(events(id.toString(), knobs)))));
    }

    private Flux<ServerSentEvent<Object>> events(String id, Knobs knobs) {
        Mono<Visit> opened = Mono.fromCallable(() -> {
            Visit visit = new Visit(knobs, Schedulers.single());
            visits.put(id, visit);
            return visit;
        });
        return Flux.usingWhen(
                opened,
                visit -> Flux.concat(
                        Mono.just(event("visit", Map.of("id", id))),
                        visit.frames().map(frame -> event("frame", frame))),
                visit -> {
                    visits.remove(id);
                    return visit.close();
                });
    }

    private static ServerSentEvent<Object> event(String name, Object data) {
        return ServerSentEvent.builder(data).event(name).build();
    }

    private Mono<ServerResponse> turn(ServerRequest request) {
        return withKnobs(request, knobs -> visit(request, visit -> visit.turn(knobs)));
    }

    private Mono<ServerResponse> visit(ServerRequest request, Consumer<Visit> effect) {
        Visit visit = visits.get(request.pathVariable("id"));
        if (visit == null) {
            return problem(NOT_FOUND, "there is no such visit, or it has ended");
        }
        effect.accept(visit);
        return ServerResponse.noContent().build();
    }

    private static Mono<ServerResponse> withKnobs(ServerRequest request, Function<Knobs, Mono<ServerResponse>> answer) {
        Knobs knobs;
        try {
            knobs = Knobs.of(request.queryParams());
        } catch (IllegalArgumentException e) {
            return problem(BAD_REQUEST, String.valueOf(e.getMessage()));
        }
        return answer.apply(knobs);
    }

    private static Mono<ServerResponse> problem(HttpStatus status, String detail) {
        return ServerResponse.status(status)
                .contentType(MediaType.APPLICATION_PROBLEM_JSON)
                .bodyValue(ProblemDetail.forStatusAndDetail(status, detail));
    }
}
