package io.throttlekit.conformance;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * A Redis Cluster of processes on this machine, for tests: masters with equal shares of the slots, and
 * replicas if wanted. Blocking: for test threads.
 */
public final class RedisClusterServers implements AutoCloseable {
    private static final int SLOTS = 16_384;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final List<RedisServer> masters = new ArrayList<>();
    private final List<RedisServer> replicas = new ArrayList<>();

    private RedisClusterServers() {}

    /**
     * Starts a cluster and awaits that it is ready.
     *
     * @param masters how many masters, at least 3
     * @param replicated whether every master gets a replica
     * @param config further arguments of {@code redis-server}, one word each
     * @return the cluster
     */
    public static RedisClusterServers start(int masters, boolean replicated, String... config) {
        RedisClusterServers cluster = new RedisClusterServers();
        try {
            cluster.spawn(cluster.masters, masters, config);
            if (replicated) {
                cluster.spawn(cluster.replicas, masters, config);
            }
            cluster.join();
            return cluster;
        } catch (RuntimeException e) {
            cluster.close();
            throw e;
        }
    }

    private void spawn(List<RedisServer> nodes, int count, String... config) {
        List<String> all = new ArrayList<>(List.of("--cluster-enabled", "yes", "--cluster-node-timeout", "1000"));
        all.addAll(Arrays.asList(config));
        for (int i = 0; i < count; i++) {
            nodes.add(RedisServers.own(all.toArray(new String[0])));
        }
    }

    private void join() {
        RedisServer first = masters.get(0);
        for (int i = 0; i < masters.size(); i++) {
            RedisServer master = masters.get(i);
            master.command("CONFIG", "SET", "cluster-require-full-coverage", "no");
            // With one epoch each, a failover is voted on at once.
            master.command("CLUSTER", "SET-CONFIG-EPOCH", String.valueOf(i + 1));
            List<String> add = new ArrayList<>(List.of("CLUSTER", "ADDSLOTS"));
            for (int slot = i * SLOTS / masters.size(); slot < (i + 1) * SLOTS / masters.size(); slot++) {
                add.add(String.valueOf(slot));
            }
            master.command(add.toArray(new String[0]));
        }
        List<RedisServer> all = nodes();
        for (RedisServer node : all) {
            node.command("CLUSTER", "MEET", first.host(), String.valueOf(first.port()));
        }
        await("all nodes know each other", () -> all.stream().allMatch(node -> knows(node, all.size())));
        for (int i = 0; i < replicas.size(); i++) {
            replicas.get(i).command("CLUSTER", "REPLICATE", idOf(masters.get(i)));
        }
        await("the cluster is up", () -> all.stream().allMatch(RedisClusterServers::isUp));
        await(
                "the replicas follow",
                () -> replicas.stream()
                        .allMatch(node -> text(node, "INFO", "replication").contains("master_link_status:up")));
    }

    private static boolean knows(RedisServer node, int count) {
        return text(node, "CLUSTER", "INFO").contains("cluster_known_nodes:" + count + "\r");
    }

    private static boolean isUp(RedisServer node) {
        String info = text(node, "CLUSTER", "INFO");
        return info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:" + SLOTS);
    }

    private static String text(RedisServer node, String... command) {
        return String.valueOf(node.command(command));
    }

    /** Waits for something that only polling can tell. */
    private static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("waited in vain until " + what);
            }
            LockSupport.parkNanos(5_000_000);
        }
    }

    /**
     * The masters, in the order of their slots; after a failover, those that were.
     *
     * @return as many as were asked for
     */
    public List<RedisServer> masters() {
        return List.copyOf(masters);
    }

    /**
     * The replicas, in the order of their masters; after a failover, those that were.
     *
     * @return as many as there are masters, or none
     */
    public List<RedisServer> replicas() {
        return List.copyOf(replicas);
    }

    private List<RedisServer> nodes() {
        List<RedisServer> all = new ArrayList<>(masters);
        all.addAll(replicas);
        return all;
    }

    /**
     * The node's name in the cluster.
     *
     * @param node one of the nodes
     * @return 40 hex digits
     */
    public static String idOf(RedisServer node) {
        return text(node, "CLUSTER", "MYID");
    }

    /**
     * The slot of a stored key.
     *
     * @param storedKey the key as Redis sees it
     * @return 0 to 16383
     */
    public int slotOf(String storedKey) {
        return Integer.parseInt(text(masters.get(masters.size() - 1), "CLUSTER", "KEYSLOT", storedKey));
    }

    /**
     * Awaits that a master's replica has all that the master has.
     *
     * @param master one of the masters
     */
    public void awaitReplicated(RedisServer master) {
        RedisServer replica = replicas.get(masters.indexOf(master));
        await(
                "the replica has caught up",
                () -> offset(master, "master_repl_offset") == offset(replica, "slave_repl_offset"));
    }

    private static long offset(RedisServer node, String field) {
        return text(node, "INFO", "replication")
                .lines()
                .filter(line -> line.startsWith(field + ":"))
                .mapToLong(line ->
                        Long.parseLong(line.substring(field.length() + 1).strip()))
                .findFirst()
                .orElse(-1);
    }

    /**
     * Moves a slot with its keys from one master to another, as a resharding does.
     *
     * @param slot the slot
     * @param from the master that has it
     * @param to the master that is to have it
     */
    public void move(int slot, RedisServer from, RedisServer to) {
        String number = String.valueOf(slot);
        to.command("CLUSTER", "SETSLOT", number, "IMPORTING", idOf(from));
        from.command("CLUSTER", "SETSLOT", number, "MIGRATING", idOf(to));
        while (from.command("CLUSTER", "GETKEYSINSLOT", number, "100") instanceof List<?> keys && !keys.isEmpty()) {
            List<String> migrate =
                    new ArrayList<>(List.of("MIGRATE", to.host(), String.valueOf(to.port()), "", "0", "5000", "KEYS"));
            keys.forEach(key -> migrate.add(String.valueOf(key)));
            from.command(migrate.toArray(new String[0]));
        }
        to.command("CLUSTER", "SETSLOT", number, "NODE", idOf(to));
        from.command("CLUSTER", "SETSLOT", number, "NODE", idOf(to));
    }

    @Override
    public void close() {
        nodes().forEach(RedisServer::close);
    }
}
