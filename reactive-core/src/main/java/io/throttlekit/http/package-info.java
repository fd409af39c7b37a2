/**
 * Everything about limiting HTTP requests that is the same in every server: whose limit a request counts on,
 * what happens when the store is down, and which status, headers and body the answer carries. No framework
 * is known here; an adapter asks an {@link io.throttlekit.http.Admission} and does what the
 * {@link io.throttlekit.http.Outcome} says.
 */
@NullMarked
package io.throttlekit.http;

import org.jspecify.annotations.NullMarked;
