/**
 * Where a strategy and a store meet: {@link io.throttlekit.limiter.Limiter}, its builder and its pipeline
 * operators.
 *
 * <p><b>The way of a request.</b> Here it is a key and a cost. They come from {@link io.throttlekit.http}, from the futures
 * of {@code io.throttlekit.vertx}, or from code of your own. The limiter checks the arguments, puts its prefix before the
 * key, asks its {@link io.throttlekit.Strategy} for a {@link io.throttlekit.Transform}, and hands that to its
 * {@link io.throttlekit.Store}. It decides nothing itself and has no thread of its own: the
 * {@link io.throttlekit.Decision} is emitted where the store emits it. Next is the store:
 * {@link io.throttlekit.store} in this process, else {@code io.throttlekit.redis} or {@code io.throttlekit.pg}.
 *
 * <p>A {@link io.throttlekit.limiter.TwoTier} limiter may answer before that, on the caller's thread: with a denial that
 * still stands, or from units that it has leased. Otherwise it asks the store as above; whoever waits for a lease is told
 * on the thread that brings it.
 */
@NullMarked
package io.throttlekit.limiter;

import org.jspecify.annotations.NullMarked;
