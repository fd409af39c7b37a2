package io.throttlekit.redis;

import io.throttlekit.Program;
import io.throttlekit.Transform;
import io.throttlekit.redis.Scripts.Script;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The programs of transforms. Those of the transforms that were used last are kept, as many as there are places:
 * a limiter uses the same transform for all its checks of one unit.
 */
final class Programs {
    private static final int PLACES = 64;

    private record Known(
            Transform<?, ?> transform, @Nullable Prepared<?> prepared) {}

    private final Scripts scripts = new Scripts();
    private final AtomicReferenceArray<@Nullable Known> known = new AtomicReferenceArray<>(PLACES);

    /** The transform's program, or null when it has none that Redis can run. */
    @SuppressWarnings("unchecked") // what is kept for a transform was made of its own program
    <R> @Nullable Prepared<R> of(Transform<?, R> transform) {
        int place = System.identityHashCode(transform) & (PLACES - 1);
        Known before = known.get(place);
        if (before != null && before.transform == transform) {
            return (Prepared<R>) before.prepared;
        }
        Program<R> program = transform.program();
        Script script = program == null ? null : scripts.of(program);
        Prepared<R> prepared = program == null || script == null ? null : new Prepared<>(program, script);
        known.set(place, new Known(transform, prepared));
        return prepared;
    }
}
