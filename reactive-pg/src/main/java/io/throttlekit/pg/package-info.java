/**
 * The store on PostgreSQL: a limit shared by every node that reaches the database.
 *
 * <p>{@link io.throttlekit.pg.PgStore} is all there is to it; {@link io.throttlekit.pg.Durability} says what a
 * crash of the server may lose.
 */
@NullMarked
package io.throttlekit.pg;

import org.jspecify.annotations.NullMarked;
