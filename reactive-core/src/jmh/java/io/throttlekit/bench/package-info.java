/** Benchmarks of the core against a floor and against other libraries. */
@NullMarked
package io.throttlekit.bench;

import org.jspecify.annotations.NullMarked;
