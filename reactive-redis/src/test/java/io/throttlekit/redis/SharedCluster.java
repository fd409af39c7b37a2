package io.throttlekit.redis;

import io.throttlekit.conformance.RedisClusterServers;

/** Three masters that tests share which do them no harm; started by the first of them. */
final class SharedCluster {
    static final RedisClusterServers CLUSTER = RedisClusterServers.start(3, false);

    private SharedCluster() {}
}
