/**
 * One runnable main per use of the library. Each says in its comment what it prints, and a test holds it to that.
 *
 * <pre>{@code ./mvnw -q -Pexample -Dexample=TwoTierFleet}</pre>
 *
 * <p>Those that need a Redis or a PostgreSQL take its address with {@code -Duri=redis://localhost}, and start a server
 * of their own without it.
 */
@NullMarked
package io.throttlekit.examples;

import org.jspecify.annotations.NullMarked;
