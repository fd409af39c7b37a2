package io.throttlekit.strategy;

/**
 * A count in one counting period.
 *
 * @param startMs the period's start, epoch ms
 * @param resetMs the period's end, epoch ms
 * @param count units taken in it, at least 0
 */
public record WindowState(long startMs, long resetMs, long count) {
    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException if one is out of range
     */
    public WindowState {
        if (resetMs <= startMs || count < 0) {
            throw new IllegalArgumentException("resetMs must be after startMs and count at least 0, was " + startMs
                    + " to " + resetMs + ", " + count);
        }
    }
}
