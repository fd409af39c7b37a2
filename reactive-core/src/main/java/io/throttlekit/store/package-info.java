/**
 * The store in this process: {@link io.throttlekit.store.MemoryStore}.
 *
 * <p><b>The way of a request.</b> A limiter or a shaper brings a key and a {@link io.throttlekit.Transform}. The store finds
 * the key's entry, reads its clock, and lets the transform compute the next state: by one compare-and-set where the
 * state fits a {@code long}, else under the entry's lock. What it calls for that is in {@link io.throttlekit.strategy}. Then
 * the transform reads its answer from the step, and the answer goes back to {@link io.throttlekit.limiter}. All of it
 * happens on the caller's thread. A daemon thread frees what has expired; it decides nothing.
 */
@NullMarked
package io.throttlekit.store;

import org.jspecify.annotations.NullMarked;
