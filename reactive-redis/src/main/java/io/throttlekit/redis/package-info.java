/** {@link io.throttlekit.redis.RedisStore}, the store on Redis. */
@NullMarked
package io.throttlekit.redis;

import org.jspecify.annotations.NullMarked;
