/**
 * WebFlux and Vert.x servers over every store, under load and under faults, and what has to hold all along.
 *
 * <p>{@link io.throttlekit.examples.soak.Soak} runs it.
 */
@NullMarked
package io.throttlekit.examples.soak;

import org.jspecify.annotations.NullMarked;
