package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.conformance.RedisClusterServers;
import io.throttlekit.conformance.RedisServer;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.strategy.Gcra;
import io.vertx.core.Vertx;
import io.vertx.redis.client.RedisClientType;
import io.vertx.redis.client.RedisOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.retry.Retry;

/** What a cluster adds: slots, redirections, scripts on every node, and nodes that die. */
class ClusterTest {
    private static final long LIMIT = 1_000_000;
    private static final Gcra STRATEGY = Gcra.of(1, Duration.ofHours(1)).withBurst(LIMIT);

    private final Vertx vertx = Vertx.vertx();
    private final List<RedisStore> opened = new ArrayList<>();

    @AfterEach
    void close() {
        opened.forEach(store -> Await.done(store.close()));
        vertx.close();
    }

    private RedisStore opening(RedisClusterServers cluster, boolean programs) {
        RedisOptions options = new RedisOptions().setType(RedisClientType.CLUSTER);
        cluster.masters().forEach(master -> options.addConnectionString(master.uri()));
        RedisStore store = RedisStore.builder(vertx, options)
                .deadline(Duration.ofSeconds(5))
                .connections(1)
                .maxRetries(20)
                .programs(programs)
                .build();
        opened.add(store);
        return store;
    }

    private Limiter limiter(RedisClusterServers cluster, boolean programs) {
        return Limiter.builder(STRATEGY).store(opening(cluster, programs)).build();
    }

    private static Decision insistent(Mono<Decision> check) {
        return Await.value(check.retryWhen(
                Retry.fixedDelay(10_000, Duration.ofMillis(20)).filter(e -> e instanceof StoreUnavailableException)));
    }

    private static long charged(Limiter limiter, String key) {
        return LIMIT - insistent(limiter.peek(key)).remaining();
    }

    @Test
    void letsNoKeyChooseItsSlot() {
        RedisClusterServers cluster = SharedCluster.CLUSTER;
        Limiter limiter = limiter(cluster, true);
        Set<Integer> slots = new HashSet<>();

        for (int i = 0; i < 30; i++) {
            assertThat(Await.value(limiter.check("{tag}" + i)).allowed()).isTrue();
            slots.add(cluster.slotOf("throttlekit:%7Btag%7D" + i));
        }

        assertThat(slots).hasSizeGreaterThan(20);
        long everywhere = cluster.masters().stream()
                .filter(master -> Info.keys(master).stream().anyMatch(key -> key.contains("%7Btag%7D")))
                .count();
        assertThat(everywhere).isEqualTo(3);
    }

    @Test
    void bringsScriptsToEveryNode() {
        RedisClusterServers cluster = SharedCluster.CLUSTER;
        Limiter limiter = limiter(cluster, true);
        Await.value(limiter.check("warm"));
        cluster.masters().forEach(master -> master.command("SCRIPT", "FLUSH"));

        long allowed = Await.value(Flux.range(0, 300)
                .flatMap(i -> limiter.check("script " + i), 300)
                .filter(Decision::allowed)
                .count());

        assertThat(allowed).isEqualTo(300);
        for (RedisServer master : cluster.masters()) {
            assertThat(Info.calls(master, "eval")).isPositive();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void followsASlotThatMovesUnderLoad(boolean programs) {
        RedisClusterServers cluster = SharedCluster.CLUSTER;
        Limiter limiter = limiter(cluster, programs);
        String key = "moving " + programs;
        int slot = cluster.slotOf("throttlekit:" + key);
        insistent(limiter.check(key));
        int owner = IntStream.range(0, 3)
                .filter(i -> Info.keys(cluster.masters().get(i)).contains("throttlekit:" + key))
                .findFirst()
                .orElseThrow();
        AtomicBoolean over = new AtomicBoolean();
        Mono<Outcomes> load = Flux.range(0, Integer.MAX_VALUE)
                .takeWhile(i -> !over.get())
                .flatMap(i -> Outcomes.of(limiter.check(key)), 8)
                .collectList()
                .map(Outcomes::new)
                .subscribeOn(Schedulers.boundedElastic())
                .cache();
        load.subscribe();

        try {
            for (int move = 0; move < 3; move++) {
                RedisServer from = cluster.masters().get((owner + move) % 3);
                RedisServer to = cluster.masters().get((owner + move + 1) % 3);
                cluster.move(slot, from, to);
            }
        } finally {
            // Else it would ask a store that is closed, without end.
            over.set(true);
        }

        Outcomes outcomes = Await.value(load);
        assertThat(outcomes.allowed()).isPositive();
        assertThat(outcomes.failed(Reason.TIMEOUT)).isZero();
        assertThat(charged(limiter, key))
                .isBetween(1 + outcomes.allowed(), 1 + outcomes.allowed() + outcomes.mayHaveCharged());
    }

    @Test
    void goesOnWithTheReplicaOfAMasterThatDied() {
        try (RedisClusterServers cluster = RedisClusterServers.start(3, true)) {
            Limiter limiter = limiter(cluster, true);
            Limiter functions = limiter(cluster, false);
            List<String> keys = IntStream.range(0, 30).mapToObj(i -> "key " + i).toList();
            keys.forEach(key -> insistent(limiter.check(key)));
            RedisServer dead = cluster.masters().get(0);
            List<String> lost = keys.stream()
                    .filter(key -> cluster.slotOf("throttlekit:" + key) < 5_461)
                    .toList();
            assertThat(lost).isNotEmpty();
            cluster.awaitReplicated(dead);

            dead.kill();
            Outcomes outcomes = Outcomes.together(limiter, lost.get(0), 20);

            assertThat(outcomes.list()).hasSize(20);
            lost.forEach(
                    key -> assertThat(insistent(limiter.check(key)).remaining()).isLessThan(LIMIT - 1));
            assertThat(insistent(functions.check("functions " + lost.get(0))).allowed())
                    .isTrue();
            opened.forEach(store -> Await.done(store.close()));
        }
    }

    @Test
    void servesTheOtherNodesWhenOneIsDeadAndFindsItAgain() {
        try (RedisClusterServers cluster = RedisClusterServers.start(3, false)) {
            Limiter limiter = limiter(cluster, true);
            List<String> keys = IntStream.range(0, 60).mapToObj(i -> "key " + i).toList();
            keys.forEach(key -> insistent(limiter.check(key)));
            RedisServer dead = cluster.masters().get(0);

            dead.kill();
            for (String key : keys) {
                boolean isLost = cluster.slotOf("throttlekit:" + key) < 5_461;
                Outcomes outcome = Outcomes.together(limiter, key, 1);
                assertThat(outcome.allowed()).as(key).isEqualTo(isLost ? 0 : 1);
            }
            dead.restart();

            keys.forEach(
                    key -> assertThat(insistent(limiter.check("again " + key)).allowed())
                            .isTrue());
            opened.forEach(store -> Await.done(store.close()));
        }
    }
}
