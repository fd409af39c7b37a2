package io.throttlekit.examples.readme;

import io.throttlekit.shaping.LeakyBucket;
import io.throttlekit.shaping.Shaper;
import java.time.Duration;
import reactor.core.publisher.Flux;

public class PacedFlux {
    public static void main(String[] args) {
        Shaper shaper = LeakyBucket.of(5, Duration.ofSeconds(1))
                .maxQueue(Duration.ofSeconds(2))
                .build();
        Flux.just("a", "b", "c", "d")
                .transform(shaper.pace("upstream"))
                .elapsed()
                .doOnNext(sent -> System.out.println(sent.getT2() + " after " + sent.getT1() + " ms"))
                .blockLast();
    }
}
