package io.throttlekit.conformance.model;

import java.math.BigInteger;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The sliding window in buckets. */
public final class SlidingWindowModel extends Model {
    private final long windowMs;
    private final int buckets;
    private final Ratio width;
    private final Map<BigInteger, BigInteger> counts = new HashMap<>();
    private @Nullable BigInteger newest;

    /** A key that was never used. */
    public SlidingWindowModel(long limit, long windowMs, int buckets) {
        super(limit);
        this.windowMs = windowMs;
        this.buckets = buckets;
        this.width = Ratio.of(windowMs).by(buckets);
    }

    private BigInteger current(long nowMicros) {
        BigInteger bucket = whole(floorMs(nowMicros)).by(width).floor();
        return newest == null || hasExpired(nowMicros) ? bucket : bucket.max(newest);
    }

    private boolean hasExpired(long nowMicros) {
        return newest != null && endOf(newest).compareTo(floorMs(nowMicros)) <= 0;
    }

    private BigInteger endOf(BigInteger bucket) {
        return startOf(bucket.add(BigInteger.ONE)).plus(windowMs).ceil();
    }

    private Ratio startOf(BigInteger bucket) {
        return whole(bucket).times(width);
    }

    private static Ratio whole(BigInteger value) {
        return new Ratio(value, BigInteger.ONE);
    }

    private BigInteger count(BigInteger bucket) {
        return counts.getOrDefault(bucket, BigInteger.ZERO);
    }

    private BigInteger full(BigInteger bucket) {
        BigInteger sum = BigInteger.ZERO;
        for (Map.Entry<BigInteger, BigInteger> entry : counts.entrySet()) {
            BigInteger back = bucket.subtract(entry.getKey());
            if (back.signum() >= 0 && back.compareTo(BigInteger.valueOf(buckets)) < 0) {
                sum = sum.add(entry.getValue());
            }
        }
        return sum;
    }

    private BigInteger old(BigInteger bucket) {
        return count(bucket.subtract(BigInteger.valueOf(buckets)));
    }

    private Ratio estimate(long nowMicros) {
        BigInteger bucket = current(nowMicros);
        Ratio over = whole(floorMs(nowMicros)).minus(startOf(bucket)).max(Ratio.ZERO);
        Ratio weight = width.minus(over).by(width);
        return whole(full(bucket)).plus(weight.times(whole(old(bucket))));
    }

    @Override
    BigInteger available(long nowMicros) {
        return Ratio.of(limit()).minus(estimate(nowMicros)).floor();
    }

    @Override
    void take(long nowMicros, long units) {
        BigInteger bucket = current(nowMicros);
        if (hasExpired(nowMicros)) {
            counts.clear();
        }
        counts.merge(bucket, BigInteger.valueOf(units), BigInteger::add);
        newest = bucket;
    }

    @Override
    BigInteger resetAtMs(long nowMicros) {
        return endOf(current(nowMicros));
    }

    /** The first instant from now on at which the estimate is at most x, nothing being added. */
    private Ratio when(long nowMicros, BigInteger x) {
        Ratio now = whole(floorMs(nowMicros));
        if (estimate(nowMicros).compareTo(whole(x)) <= 0) {
            return now;
        }
        BigInteger bucket = current(nowMicros);
        BigInteger full = full(bucket);
        BigInteger old = old(bucket);
        while (full.compareTo(x) > 0) {
            bucket = bucket.add(BigInteger.ONE);
            old = old(bucket);
            full = full.subtract(old);
        }
        // Here it falls from full + old to full, and x lies between; or it starts at x or less.
        Ratio part = old.signum() == 0
                ? Ratio.ZERO
                : whole(full.add(old).subtract(x)).by(whole(old)).max(Ratio.ZERO);
        return startOf(bucket).plus(part.times(width)).max(now);
    }

    @Override
    BigInteger waitMs(long nowMicros, long cost) {
        BigInteger x = cost > limit() ? BigInteger.ZERO : BigInteger.valueOf(limit() - cost);
        return when(nowMicros, x).ceil().subtract(floorMs(nowMicros));
    }

    @Override
    BigInteger nextReplenishAtMs(long nowMicros) {
        BigInteger available = available(nowMicros).max(BigInteger.ZERO);
        BigInteger x = BigInteger.valueOf(limit() - 1).subtract(available);
        return x.signum() < 0 ? ms(Ratio.of(nowMicros)) : when(nowMicros, x).ceil();
    }

    @Override
    BigInteger fullAtMs(long nowMicros) {
        boolean unused = estimate(nowMicros).compareTo(Ratio.ZERO) == 0;
        return unused
                ? ms(Ratio.of(nowMicros))
                : when(nowMicros, BigInteger.ZERO).ceil();
    }

    @Override
    public void refund(long nowMicros, long cost, @Nullable Long resetAtMs) {
        BigInteger bucket = current(nowMicros);
        if (!hasExpired(nowMicros) && count(bucket).signum() > 0) {
            counts.put(bucket, count(bucket).subtract(BigInteger.valueOf(cost)).max(BigInteger.ZERO));
            newest = bucket;
        }
    }
}
