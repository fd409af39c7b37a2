/** What a store and a strategy must do, as tests that anyone can run against their own. */
@NullMarked
package io.throttlekit.conformance;

import org.jspecify.annotations.NullMarked;
