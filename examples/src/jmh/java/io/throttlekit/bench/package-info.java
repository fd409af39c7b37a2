/** What a limit costs a server. */
@NullMarked
package io.throttlekit.bench;

import org.jspecify.annotations.NullMarked;
