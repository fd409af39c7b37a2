/**
 * The vocabulary and the contracts: what a {@link io.throttlekit.Decision} says, what a
 * {@link io.throttlekit.Strategy} computes, what a {@link io.throttlekit.Store} keeps.
 *
 * <p><b>The way of a request</b> leads through the other packages, in this order. An adapter, {@code io.throttlekit.webflux}
 * or {@code io.throttlekit.vertx}, asks {@link io.throttlekit.http}, which finds the key and asks
 * {@link io.throttlekit.limiter}, on the request's thread. The limiter asks its strategy for a
 * {@link io.throttlekit.Transform}, a pure function of {@code (state, now)}. The store
 * ({@link io.throttlekit.store}, {@code io.throttlekit.redis}, {@code io.throttlekit.pg}) applies it to one key atomically,
 * with its own clock, and answers with what the transform reads from the {@link io.throttlekit.Step} it made. A store that
 * can run the transform's {@link io.throttlekit.Program} where the state lives does so in one round trip; any other store
 * runs the function, with the same result. The function is in {@link io.throttlekit.strategy}. The decision goes back the
 * same way, on the caller's thread or the store's event loop, until the adapter brings it to the request's own.
 *
 * <p>Two other ways start at the adapters: {@link io.throttlekit.shaping} delays instead of denying, and
 * {@link io.throttlekit.concurrency} bounds what is in flight. Nothing in this package has a thread or calls another.
 */
@NullMarked
package io.throttlekit;

import org.jspecify.annotations.NullMarked;
