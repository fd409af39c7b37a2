/**
 * A ceiling on requests in flight that finds itself: {@link io.throttlekit.concurrency.AdaptiveConcurrency}
 * builds a {@link io.throttlekit.concurrency.ConcurrencyGuard}, which hands out a
 * {@link io.throttlekit.concurrency.Lease} for each request and learns from how long it was held.
 */
@NullMarked
package io.throttlekit.concurrency;

import org.jspecify.annotations.NullMarked;
