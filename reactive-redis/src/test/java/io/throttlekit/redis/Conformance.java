package io.throttlekit.redis;

import io.throttlekit.Clock;
import io.throttlekit.Store;
import io.throttlekit.conformance.RedisServer;
import io.throttlekit.conformance.RedisServers;
import io.throttlekit.conformance.StoreConformance;
import io.throttlekit.conformance.StrategyConformance;
import io.throttlekit.conformance.VectorReplay;
import io.throttlekit.conformance.VectorReplay.Report;
import io.vertx.core.Vertx;
import io.vertx.redis.client.RedisClientType;
import io.vertx.redis.client.RedisOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.Assertions;

/** Where the conformance tests run: any server, a cluster of three masters; and how stores are opened there. */
enum Conformance {
    SERVER {
        @Override
        RedisOptions options() {
            return new RedisOptions().setConnectionString(Shared.SERVER.uri());
        }
    },
    CLUSTER {
        @Override
        RedisOptions options() {
            List<String> endpoints = new ArrayList<>();
            SharedCluster.CLUSTER.masters().forEach(master -> endpoints.add(master.uri()));
            return new RedisOptions().setType(RedisClientType.CLUSTER).setEndpoints(endpoints);
        }
    };

    private static final Duration DEADLINE = Duration.ofSeconds(10);

    /** Started by the first test that needs it; it ends with the tests. */
    private static final class Shared {
        static final RedisServer SERVER = RedisServers.any();
        static final Vertx VERTX = Vertx.vertx();
    }

    abstract RedisOptions options();

    static RedisServer server() {
        return Shared.SERVER;
    }

    static Vertx vertx() {
        return Shared.VERTX;
    }

    RedisStore.Builder builder() {
        return RedisStore.builder(Shared.VERTX, options()).deadline(DEADLINE);
    }

    Report replay(boolean programs) {
        return Await.value(VectorReplay.create()
                .replayBundled(clock ->
                        builder().connections(1).clock(clock).programs(programs).build())
                .timeout(Duration.ofSeconds(60)));
    }

    void passesAllVectors(boolean programs) {
        Report report = replay(programs);

        Assertions.assertThat(report.differences()).isEmpty();
        Assertions.assertThat(report.passed()).isGreaterThan(2_000);
    }

    /** Rules of stores. */
    abstract static class Rules extends StoreConformance {
        private final Conformance place;
        private final boolean programs;

        Rules(Conformance place, boolean programs) {
            this.place = place;
            this.programs = programs;
        }

        @Override
        protected Store open() {
            return place.builder().programs(programs).connections(2).build();
        }

        @Override
        protected Store openBeside(Store first) {
            return open();
        }
    }

    /** Laws of strategies. */
    abstract static class Laws extends StrategyConformance {
        private final boolean programs;

        Laws(boolean programs) {
            this.programs = programs;
        }

        @Override
        protected Store open(Clock clock) {
            return SERVER.builder()
                    .connections(1)
                    .clock(clock)
                    .programs(programs)
                    .build();
        }
    }
}
