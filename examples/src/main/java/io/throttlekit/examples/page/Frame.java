package io.throttlekit.examples.page;

import java.util.List;

/**
 * What happened since the frame before. Times are milliseconds since the visit began, by the clock of its store.
 *
 * @param time when the frame was taken
 * @param spanMs how much time it tells of: 100 ms, and more when the reader did not keep up
 * @param since when the limits were last changed; totals count from there
 * @param knobs what was in force
 * @param offered requests that came
 * @param lanes what each strategy made of them
 * @param shaper what the shaper made of them
 * @param fleet what the fleet made of them
 */
record Frame(
        double time,
        double spanMs,
        double since,
        Knobs knobs,
        long offered,
        List<LaneFrame> lanes,
        ShaperFrame shaper,
        FleetFrame fleet) {

    /**
     * A strategy.
     *
     * @param name its name
     * @param admitted since the frame before
     * @param denied since the frame before
     * @param totalAdmitted since the limits were changed
     * @param totalDenied since the limits were changed
     * @param most what it may have admitted by now since the limits were changed, whatever the load
     */
    record LaneFrame(String name, long admitted, long denied, long totalAdmitted, long totalDenied, long most) {}

    /**
     * The shaper.
     *
     * @param intervalMs the time between two departures
     * @param maxWaitMs the longest wait
     * @param reserved arrivals since the frame before that got a departure
     * @param refused arrivals since the frame before that met a full queue
     * @param waiting how many wait for their departure
     * @param totalDeparted since the limits were changed
     * @param totalRefused since the limits were changed
     */
    record ShaperFrame(
            double intervalMs,
            double maxWaitMs,
            List<Place> reserved,
            List<Double> refused,
            long waiting,
            long totalDeparted,
            long totalRefused) {}

    /** When a request came, and when it departs. */
    record Place(double arrival, double departure) {}

    /**
     * The fleet.
     *
     * @param limit what all nodes together may admit in a second
     * @param batch units that a node leases at once
     * @param requests since the limits were changed
     * @param storeCalls since the limits were changed
     * @param nodes the nodes
     */
    record FleetFrame(long limit, long batch, long requests, long storeCalls, List<NodeFrame> nodes) {}

    /**
     * A node.
     *
     * @param credits units that it has leased and not used
     * @param admitted since the limits were changed
     * @param denied since the limits were changed
     * @param storeCalls since the limits were changed
     */
    record NodeFrame(long credits, long admitted, long denied, long storeCalls) {}
}
