/** The store in this process: {@link io.throttlekit.store.MemoryStore}. */
@NullMarked
package io.throttlekit.store;

import org.jspecify.annotations.NullMarked;
