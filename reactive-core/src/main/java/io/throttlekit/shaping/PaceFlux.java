package io.throttlekit.shaping;

import io.throttlekit.ExactMicros;
import io.throttlekit.Transform;
import io.throttlekit.strategy.Departure;
import java.util.function.Function;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxOperator;

/** A source whose elements leave at their departures; see {@link Pacer}. */
final class PaceFlux<T> extends FluxOperator<T, T> {
    private final StoreShaper shaper;
    private final Function<? super T, String> storeKey;
    private final Function<? super T, Transform<ExactMicros, Departure>> reserving;
    private final Pacing<? super T> pacing;

    private PaceFlux(
            Flux<? extends T> source,
            StoreShaper shaper,
            Function<? super T, String> storeKey,
            Function<? super T, Transform<ExactMicros, Departure>> reserving,
            Pacing<? super T> pacing) {
        super(source);
        this.shaper = shaper;
        this.storeKey = storeKey;
        this.reserving = reserving;
        this.pacing = pacing;
    }

    static <T> Flux<T> of(
            Flux<? extends T> source,
            StoreShaper shaper,
            Function<? super T, String> storeKey,
            Function<? super T, Transform<ExactMicros, Departure>> reserving,
            Pacing<? super T> pacing) {
        return onAssembly(new PaceFlux<>(source, shaper, storeKey, reserving, pacing));
    }

    @Override
    public int getPrefetch() {
        return pacing.ahead();
    }

    @Override
    public void subscribe(CoreSubscriber<? super T> actual) {
        source.subscribe(new Pacer<>(shaper, storeKey, reserving, pacing, actual));
    }
}
