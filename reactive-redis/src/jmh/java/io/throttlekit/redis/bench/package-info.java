/** Benchmarks of the Redis store against a bare pipelined connection. */
@NullMarked
package io.throttlekit.redis.bench;

import org.jspecify.annotations.NullMarked;
