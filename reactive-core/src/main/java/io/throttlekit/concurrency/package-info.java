/**
 * A ceiling on requests in flight that finds itself: {@link io.throttlekit.concurrency.AdaptiveConcurrency}
 * builds a {@link io.throttlekit.concurrency.ConcurrencyGuard}, which hands out a
 * {@link io.throttlekit.concurrency.Lease} for each request and learns from how long it was held.
 *
 * <p><b>The way of a request.</b> It comes from {@code ConcurrencyWebFilter} or {@code ConcurrencyHandler}, or from a
 * pipeline that the guard protects. The guard decides on the spot and on the caller's thread whether there is a place, by
 * one compare-and-set; there is no key, no store and no wait, and it asks nobody further. The request goes on with its
 * lease. When it ends, on whichever thread, the lease is given back, and that thread may run the law that moves the limit.
 */
@NullMarked
package io.throttlekit.concurrency;

import org.jspecify.annotations.NullMarked;
