package io.throttlekit.webflux;

import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.util.ClassUtils;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.http.server.HttpServerRequest;

/** Finds where the user's code of a request belongs, once a store has answered on a thread of its own. */
final class RequestThread {
    private static final boolean REACTOR_NETTY =
            ClassUtils.isPresent("reactor.netty.http.server.HttpServerRequest", RequestThread.class.getClassLoader());

    private RequestThread() {}

    static Scheduler of(ServerWebExchange exchange) {
        Executor eventLoop = REACTOR_NETTY ? Netty.eventLoop(exchange.getRequest()) : null;
        return eventLoop == null ? Schedulers.parallel() : Schedulers.fromExecutor(eventLoop);
    }

    /** Apart, so that its class is only looked for where Reactor Netty is. */
    private static final class Netty {
        private Netty() {}

        static @Nullable Executor eventLoop(ServerHttpRequest request) {
            Object nativeRequest;
            try {
                nativeRequest = ServerHttpRequestDecorator.getNativeRequest(request);
            } catch (IllegalArgumentException | IllegalStateException e) {
                // A request that no server made, as in tests against a mock.
                return null;
            }
            if (!(nativeRequest instanceof HttpServerRequest netty)) {
                return null;
            }
            Executor[] eventLoop = new Executor[1];
            netty.withConnection(
                    connection -> eventLoop[0] = connection.channel().eventLoop());
            return eventLoop[0];
        }
    }
}
