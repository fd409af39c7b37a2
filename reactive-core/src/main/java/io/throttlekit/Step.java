package io.throttlekit;

import org.jspecify.annotations.Nullable;

/**
 * What one application of a transform did to a key's state.
 *
 * @param state the state afterwards, or null for none; the very object that was handed in means that
 *     nothing changed, and a store then writes nothing
 * @param granted units that were taken, or given back; 0 when nothing changed
 * @param <S> the state, an immutable value
 */
public record Step<S>(@Nullable S state, long granted) {}
