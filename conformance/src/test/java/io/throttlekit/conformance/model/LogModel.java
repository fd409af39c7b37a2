package io.throttlekit.conformance.model;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The sliding window that keeps a stamp per unit. */
public final class LogModel extends Model {
    private final BigInteger windowMs;
    private List<Stamps> kept = new ArrayList<>();

    /** Several stamps of one instant. */
    private record Stamps(BigInteger at, long units) {}

    /** A key that was never used. */
    public LogModel(long limit, long windowMs) {
        super(limit);
        this.windowMs = BigInteger.valueOf(windowMs);
    }

    private BigInteger at(long nowMicros) {
        BigInteger ms = floorMs(nowMicros);
        return kept.isEmpty() ? ms : ms.max(kept.get(kept.size() - 1).at);
    }

    private List<Stamps> live(long nowMicros) {
        BigInteger dead = at(nowMicros).subtract(windowMs);
        return kept.stream().filter(stamps -> stamps.at.compareTo(dead) > 0).toList();
    }

    private long units(long nowMicros) {
        return live(nowMicros).stream().mapToLong(Stamps::units).sum();
    }

    @Override
    BigInteger available(long nowMicros) {
        return BigInteger.valueOf(limit() - units(nowMicros));
    }

    @Override
    void take(long nowMicros, long units) {
        List<Stamps> next = new ArrayList<>(live(nowMicros));
        next.add(new Stamps(at(nowMicros), units));
        kept = next;
    }

    @Override
    BigInteger resetAtMs(long nowMicros) {
        List<Stamps> live = live(nowMicros);
        return windowMs.add(live.isEmpty() ? at(nowMicros) : live.get(0).at);
    }

    @Override
    BigInteger waitMs(long nowMicros, long cost) {
        List<Stamps> live = live(nowMicros);
        long n = units(nowMicros);
        if (n == 0) {
            return windowMs;
        }
        long k = Math.max(1, Math.min(n, n + cost - limit()));
        BigInteger stamp = live.get(0).at;
        long passed = 0;
        for (Stamps stamps : live) {
            if (passed < k) {
                stamp = stamps.at;
            }
            passed += stamps.units;
        }
        return stamp.add(windowMs).subtract(floorMs(nowMicros));
    }

    @Override
    BigInteger nextReplenishAtMs(long nowMicros) {
        return live(nowMicros).isEmpty() ? ms(Ratio.of(nowMicros)) : resetAtMs(nowMicros);
    }

    @Override
    BigInteger fullAtMs(long nowMicros) {
        List<Stamps> live = live(nowMicros);
        return live.isEmpty() ? ms(Ratio.of(nowMicros)) : windowMs.add(live.get(live.size() - 1).at);
    }

    @Override
    public void refund(long nowMicros, long cost, @Nullable Long resetAtMs) {
        List<Stamps> live = live(nowMicros);
        if (live.isEmpty()) {
            return;
        }
        List<Stamps> next = new ArrayList<>(live);
        long left = cost;
        while (left > 0 && !next.isEmpty()) {
            Stamps newest = next.remove(next.size() - 1);
            if (newest.units > left) {
                next.add(new Stamps(newest.at, newest.units - left));
            }
            left -= Math.min(left, newest.units);
        }
        kept = next;
    }
}
