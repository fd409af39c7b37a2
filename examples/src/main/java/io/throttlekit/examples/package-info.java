/**
 * One runnable main per use of the library. Each says in its comment what it prints, and a test holds it to that.
 *
 * <pre>{@code ./mvnw -q -Pexample -Dexample=TwoTierFleet}</pre>
 *
 * <p>Those that need a Redis or a PostgreSQL take its address with {@code -Duri=redis://localhost}, and start a server
 * of their own without it.
 *
 * <p><b>The way of a request</b> can be followed from each of them: the servers install an adapter,
 * {@link io.throttlekit.webflux} or {@link io.throttlekit.vertx}, and it goes on in {@link io.throttlekit.http}; the
 * smaller ones ask a {@link io.throttlekit.limiter.Limiter} or a {@link io.throttlekit.shaping.Shaper} themselves. These
 * classes decide nothing and run on the main thread and on those of their servers.
 */
@NullMarked
package io.throttlekit.examples;

import org.jspecify.annotations.NullMarked;
