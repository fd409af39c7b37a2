/** How benchmark suites of all modules report into one table. */
@NullMarked
package io.throttlekit.bench.report;

import org.jspecify.annotations.NullMarked;
