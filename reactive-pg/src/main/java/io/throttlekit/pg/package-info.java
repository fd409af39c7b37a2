/**
 * The store on PostgreSQL: a limit shared by every node that reaches the database.
 * {@link io.throttlekit.pg.PgStore} is all there is to it; {@link io.throttlekit.pg.Durability} says what a crash of the
 * server may lose.
 *
 * <p><b>The way of a request.</b> A limiter or a shaper of {@link io.throttlekit.limiter} or {@link io.throttlekit.shaping}
 * brings a key and a {@link io.throttlekit.Transform}. The subscriber's thread counts the call and hands it to a lane: one
 * event loop with one connection, always the same for a key. There the transform's {@link io.throttlekit.Program} goes
 * out as one statement that calls a function of the database, which decides by the server's clock; its reply is read by the
 * strategy. A transform without a program is run here, inside a transaction that holds the key's lock. Both are in
 * {@link io.throttlekit.strategy}. The answer, or a {@link io.throttlekit.StoreUnavailableException} at the deadline, is
 * emitted on the lane's event loop and goes back the way it came.
 */
@NullMarked
package io.throttlekit.pg;

import org.jspecify.annotations.NullMarked;
