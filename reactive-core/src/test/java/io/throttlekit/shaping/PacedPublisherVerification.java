package io.throttlekit.shaping;

import io.throttlekit.store.MemoryStore;
import java.time.Duration;
import java.util.Map;
import org.reactivestreams.Publisher;
import org.reactivestreams.tck.PublisherVerification;
import org.reactivestreams.tck.TestEnvironment;
import org.testng.annotations.Factory;
import reactor.core.publisher.Flux;

/** The Reactive Streams TCK's rules for publishers, on paced sources. Run by {@link PacedPublisherTckTest}. */
public final class PacedPublisherVerification extends PublisherVerification<Integer> {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration LONG = Duration.ofHours(1);

    private final Shaper shaper;

    PacedPublisherVerification(Shaper shaper) {
        super(new TestEnvironment(2_000, 50, 20));
        this.shaper = shaper;
    }

    /** A line that hardly ever makes anybody wait, one that does, and one over a store that answers late. */
    @Factory
    public static Object[] kinds() {
        return Map.of(
                        "fast", LeakyBucket.of(1_000_000, SECOND).maxQueue(LONG).build(),
                        "slow", LeakyBucket.of(2_000, SECOND).maxQueue(LONG).build(),
                        "remote",
                                LeakyBucket.of(2_000, SECOND)
                                        .maxQueue(LONG)
                                        .store(LateStore.onItsOwnThread(MemoryStore.create()))
                                        .build())
                .values()
                .stream()
                .map(PacedPublisherVerification::new)
                .toArray();
    }

    @Override
    public Publisher<Integer> createPublisher(long elements) {
        Flux<Integer> source = elements == Long.MAX_VALUE
                ? Flux.range(0, Integer.MAX_VALUE).repeat()
                : Flux.range(0, Math.toIntExact(elements));
        return source.transform(shaper.paceBy(n -> "k" + System.identityHashCode(source) + n % 2));
    }

    @Override
    public Publisher<Integer> createFailedPublisher() {
        return Flux.<Integer>error(new IllegalStateException("boom")).transform(shaper.pace("failed"));
    }
}
