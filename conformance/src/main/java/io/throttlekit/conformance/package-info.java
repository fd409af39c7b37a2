/**
 * What a store and a strategy must do, as tests that anyone can run against their own.
 *
 * <p><b>The way of a request</b> is walked here piece by piece, on the threads of JUnit, with a real piece in the place that
 * is tested. {@link io.throttlekit.conformance.HttpConformance} begins at the wire, before an adapter;
 * {@link io.throttlekit.conformance.TwoTierConformance} at {@link io.throttlekit.limiter};
 * {@link io.throttlekit.conformance.StoreConformance} and {@link io.throttlekit.conformance.VectorReplay} at a
 * {@link io.throttlekit.Store}; {@link io.throttlekit.conformance.StrategyConformance} at the functions of
 * {@link io.throttlekit.strategy}. Extend the class for what you have made and say how to open it. Servers that a test
 * needs come from {@link io.throttlekit.conformance.RedisServers} and {@link io.throttlekit.conformance.PostgresServers}.
 */
@NullMarked
package io.throttlekit.conformance;

import org.jspecify.annotations.NullMarked;
