/** One set of cases, run on this library and on others. */
@NullMarked
package io.throttlekit.peers;

import org.jspecify.annotations.NullMarked;
