/**
 * WebFlux and Vert.x servers over every store, under load and under faults, and what has to hold all along.
 *
 * <p>{@link io.throttlekit.examples.soak.Soak} runs it. Its requests go the whole way, from a socket through an adapter to
 * a store and back, while the servers of the stores are killed, frozen, restarted and slowed; what comes back is judged at
 * the client's end.
 */
@NullMarked
package io.throttlekit.examples.soak;

import org.jspecify.annotations.NullMarked;
