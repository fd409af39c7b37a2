package io.throttlekit.peers;

import static io.throttlekit.peers.Case.check;

import java.time.Duration;

/** What a node gets whose clock is wrong. */
final class Clocks {
    private static final Duration LONG = Duration.ofMinutes(10);

    private static final SkewedNode AHEAD = SkewedNode.of(Duration.ofHours(1));
    private static final SkewedNode BEHIND = SkewedNode.of(Duration.ofHours(-1));

    private Clocks() {}

    static void stale(Subject subject) throws Exception {
        if (!subject.library().shared()) {
            throw new NotApplicable("its state is for one process");
        }
        stale(subject, AHEAD, "ahead");
        stale(subject, BEHIND, "behind");
    }

    private static void stale(Subject subject, SkewedNode node, String how) throws Exception {
        try (Library second = node.open(subject.type(), subject.servers())) {
            int after = together(subject.freshKey(), subject.library(), second);
            check(after == 10, "%d of 10, clock %s", after, how);
            int before = together(subject.freshKey(), second, subject.library());
            check(before == 10, "%d of 10, clock %s", before, how);
        }
    }

    private static int together(String key, Library first, Library second) throws Exception {
        return Subject.count(first.perPeriod(key, 10, LONG), 12) + Subject.count(second.perPeriod(key, 10, LONG), 12);
    }
}
