package io.throttlekit.peers;

import static io.throttlekit.peers.Case.check;

import java.time.Duration;

/** What a node gets whose clock is wrong. */
final class Clocks {
    private static final Duration LONG = Duration.ofMinutes(10);

    private Clocks() {}

    static void stale(Subject subject) throws Exception {
        if (!subject.library().shared()) {
            throw new NotApplicable("its state is for one process");
        }
        for (int hours : new int[] {1, -1}) {
            try (Library second = SkewedNode.open(subject.type(), subject.servers(), Duration.ofHours(hours))) {
                String how = hours > 0 ? "ahead" : "behind";
                int after = together(subject.freshKey(), subject.library(), second);
                check(after == 10, "%d of 10, clock %s", after, how);
                int before = together(subject.freshKey(), second, subject.library());
                check(before == 10, "%d of 10, clock %s", before, how);
            }
        }
    }

    private static int together(String key, Library first, Library second) throws Exception {
        return Subject.count(first.perPeriod(key, 10, LONG), 12) + Subject.count(second.perPeriod(key, 10, LONG), 12);
    }
}
