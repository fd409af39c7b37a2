/**
 * The page of the demo: what limiters, a shaper and a leased fleet make of the load that a visitor sets.
 *
 * <p>{@link DemoPage} is what a server needs. A browser that opens its stream of events starts a {@code Visit}, which
 * offers requests to a {@code Lane} per strategy, to a {@code ShaperLane} and to a {@code Fleet}, and tells in a
 * {@code Frame} every 100 ms what became of them. The requests are made up here and enter their way at
 * {@link io.throttlekit.limiter} and {@link io.throttlekit.shaping}. The files that the browser gets lie beside these
 * classes, in the resources.
 */
@NullMarked
package io.throttlekit.examples.page;

import org.jspecify.annotations.NullMarked;
