package io.throttlekit.examples.page;

import io.throttlekit.Clock;
import io.throttlekit.Decision;
import io.throttlekit.Store;
import io.throttlekit.Strategy;
import io.throttlekit.Transform;
import io.throttlekit.examples.page.Frame.FleetFrame;
import io.throttlekit.examples.page.Frame.NodeFrame;
import io.throttlekit.limiter.LeaseOptions;
import io.throttlekit.limiter.Limiter;
import io.throttlekit.limiter.TwoTier;
import io.throttlekit.strategy.FixedWindow;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Nodes that lease units of one store. To be used by one thread at a time. */
final class Fleet {
    static final int NODES = 4;

    private static final String KEY = "visitor";
    private static final int LEASES_PER_SECOND = 5;

    private final List<Node> nodes;
    private final long limit;
    private final long batch;

    /** Nodes that together may do so many times what a lane may. */
    Fleet(Store store, Clock clock, Knobs knobs) {
        this.limit = (long) NODES * knobs.limit();
        this.batch = Math.max(1, knobs.limit() / LEASES_PER_SECOND);
        Strategy<?> strategy = FixedWindow.of(limit, Duration.ofSeconds(1));
        LeaseOptions lease = LeaseOptions.batch(batch).windowCoupled();
        this.nodes = Stream.generate(() -> new Node(strategy, store, clock, lease))
                .limit(NODES)
                .toList();
    }

    /** Offers a request to one of the nodes. */
    Mono<Void> ask() {
        return nodes.get(ThreadLocalRandom.current().nextInt(NODES)).ask();
    }

    FleetFrame frame(long nowMs) {
        List<NodeFrame> frames = nodes.stream().map(node -> node.frame(nowMs)).toList();
        return new FleetFrame(
                limit,
                batch,
                frames.stream()
                        .mapToLong(node -> node.admitted() + node.denied())
                        .sum(),
                frames.stream().mapToLong(NodeFrame::storeCalls).sum(),
                frames);
    }

    /** Gives back what the nodes have leased and not used. */
    Mono<Void> close() {
        return Flux.fromIterable(nodes).flatMap(node -> node.limiter.close()).then();
    }

    private static final class Node {
        private final LongAdder storeCalls = new LongAdder();
        private final Limiter limiter;
        private long credits;
        private long creditsEndMs;
        private long admitted;
        private long denied;

        Node(Strategy<?> strategy, Store store, Clock clock, LeaseOptions lease) {
            this.limiter = TwoTier.leased(strategy, new CountingStore(store, storeCalls), lease)
                    .clock(clock)
                    .prefix("fleet")
                    .build();
        }

        Mono<Void> ask() {
            return limiter.check(KEY).doOnNext(this::saw).then();
        }

        /** An allow tells the credits that are left here, and when they end; who is denied had none. */
        private void saw(Decision decision) {
            if (decision.allowed()) {
                admitted++;
                credits = decision.remaining();
                creditsEndMs = decision.resetAtMs();
            } else {
                denied++;
                credits = 0;
            }
        }

        NodeFrame frame(long nowMs) {
            return new NodeFrame(nowMs < creditsEndMs ? credits : 0, admitted, denied, storeCalls.sum());
        }
    }

    /** The store that all nodes share, as one of them sees it: how often does it ask? */
    private record CountingStore(Store store, LongAdder calls) implements Store {
        @Override
        public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
            return Mono.defer(() -> {
                calls.increment();
                return store.apply(key, transform);
            });
        }

        @Override
        public Mono<Void> reset(String key) {
            return store.reset(key);
        }

        @Override
        public Mono<Void> close() {
            return Mono.empty();
        }
    }
}
