package io.throttlekit.pg;

import java.util.Arrays;

/**
 * Which keys were denied last, as far as a connection remembers. Only a hint which of two functions to ask:
 * keys may share a place, and both decide the same.
 */
final class Denials {
    private static final int PLACES = 8192;

    /** A hash per place; zero is nobody's. */
    private final int[] hashes = new int[PLACES];

    boolean has(byte[] key) {
        int hash = hash(key);
        return hashes[hash & (PLACES - 1)] == hash;
    }

    void note(byte[] key, boolean denied) {
        int hash = hash(key);
        int place = hash & (PLACES - 1);
        if (denied) {
            hashes[place] = hash;
        } else if (hashes[place] == hash) {
            hashes[place] = 0;
        }
    }

    private static int hash(byte[] key) {
        int hash = Arrays.hashCode(key) * 0x9E3779B9;
        return (hash ^ hash >>> 16) | 1 << 31;
    }
}
