/**
 * What every strategy must decide, once more: in rational numbers of any size, from the definitions and without
 * a look at the strategies' code. Slow and plain.
 */
@NullMarked
package io.throttlekit.conformance.model;

import org.jspecify.annotations.NullMarked;
