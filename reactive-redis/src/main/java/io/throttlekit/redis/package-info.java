/**
 * The store on Redis: a limit shared by every node that reaches the server.
 * {@link io.throttlekit.redis.RedisStore} is all there is to it.
 *
 * <p><b>The way of a request.</b> A limiter or a shaper of {@link io.throttlekit.limiter} or {@link io.throttlekit.shaping}
 * brings a key and a {@link io.throttlekit.Transform}. The subscriber's thread counts the call and hands it to a lane: one
 * event loop with one pipelined connection, always the same for a key. There the transform's
 * {@link io.throttlekit.Program} goes out as one EVALSHA and decides in Redis, by the server's clock; its reply is read
 * by the strategy. A transform without a program is run here, between WATCH and EXEC. Both are in
 * {@link io.throttlekit.strategy}. The answer, or a {@link io.throttlekit.StoreUnavailableException} at the deadline, is
 * emitted on the lane's event loop and goes back the way it came.
 */
@NullMarked
package io.throttlekit.redis;

import org.jspecify.annotations.NullMarked;
