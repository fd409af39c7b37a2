/** What README shows, compiled and run. */
@NullMarked
package io.throttlekit.examples.readme;

import org.jspecify.annotations.NullMarked;
