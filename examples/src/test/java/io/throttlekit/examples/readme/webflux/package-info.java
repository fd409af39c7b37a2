/** An application of README's, where its scan for components finds nothing else. */
@NullMarked
package io.throttlekit.examples.readme.webflux;

import org.jspecify.annotations.NullMarked;
