/**
 * Limits from the properties of a Spring Boot application. The one package of the adapters that knows stores: it
 * makes them.
 */
@NullMarked
package io.throttlekit.webflux.autoconfigure;

import org.jspecify.annotations.NullMarked;
