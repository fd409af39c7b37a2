/** One runnable main per use of the library. */
@NullMarked
package io.throttlekit.examples;

import org.jspecify.annotations.NullMarked;
