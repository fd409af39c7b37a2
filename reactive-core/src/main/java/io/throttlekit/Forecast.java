package io.throttlekit;

/**
 * What a key could spend, now and later; reading it takes nothing.
 *
 * @param spendableNow how many requests of the asked cost would be allowed now
 * @param nextReplenishAtMs the first instant at which one more whole unit is available, epoch ms rounded
 *     up; now, when the key is full
 * @param fullAtMs the instant at which the whole limit is available again, epoch ms rounded up
 * @param decidedAtMs the store's clock at the forecast, epoch ms rounded up
 */
public record Forecast(long spendableNow, long nextReplenishAtMs, long fullAtMs, long decidedAtMs) {}
