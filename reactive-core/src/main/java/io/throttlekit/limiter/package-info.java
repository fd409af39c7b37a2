/**
 * Where a strategy and a store meet: {@link io.throttlekit.limiter.Limiter}, its builder and its pipeline
 * operators.
 */
@NullMarked
package io.throttlekit.limiter;

import org.jspecify.annotations.NullMarked;
