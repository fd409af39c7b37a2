/** Benchmarks of the store on PostgreSQL. */
@NullMarked
package io.throttlekit.bench.pg;

import org.jspecify.annotations.NullMarked;
