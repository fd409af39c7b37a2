package io.throttlekit.examples.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.StoreUnavailableException;
import io.throttlekit.examples.page.Frame.FleetFrame;
import io.throttlekit.examples.page.Frame.LaneFrame;
import io.throttlekit.examples.page.Frame.NodeFrame;
import io.throttlekit.examples.page.Frame.Place;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;

class VisitTest {
    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final List<Frame> frames = new ArrayList<>();

    @AfterEach
    void dispose() {
        time.dispose();
    }

    private Visit visit(int rate, int limit, int burst) {
        return new Visit(new Knobs(rate, limit, burst), time);
    }

    private Disposable watch(Visit visit) {
        return visit.frames().subscribe(frames::add);
    }

    private void pass(Duration duration) {
        // Step by step, for whoever is late by more than a quarter of a second gives the rest of the load up.
        for (long ms = 0; ms < duration.toMillis(); ms += 10) {
            time.advanceTimeBy(Duration.ofMillis(10));
        }
    }

    private Frame last() {
        return frames.get(frames.size() - 1);
    }

    private void assertThatNobodyExceedsTheMost() {
        assertThat(frames)
                .flatExtracting(Frame::lanes)
                .allSatisfy(
                        lane -> assertThat(lane.totalAdmitted()).as(lane.name()).isLessThanOrEqualTo(lane.most()));
    }

    @Test
    void tellsOfEveryTenthOfASecond() {
        watch(visit(100, 50, 20));

        pass(Duration.ofSeconds(2));

        assertThat(frames)
                .hasSize(20)
                .allSatisfy(frame -> assertThat(frame.spanMs()).isEqualTo(100));
        assertThat(last().time()).isEqualTo(2_000);
    }

    @Test
    void noLaneExceedsWhatItMayAdmit() {
        watch(visit(500, 60, 15));

        pass(Duration.ofSeconds(25));

        assertThatNobodyExceedsTheMost();
        assertThat(last().lanes())
                .extracting(LaneFrame::name)
                .containsExactly("gcra", "tokenBucket", "slidingWindow", "slidingWindowLog", "fixedWindow", "quota");
        // There is load enough for each to come close to its most.
        assertThat(last().lanes())
                .allSatisfy(
                        lane -> assertThat(lane.totalAdmitted()).as(lane.name()).isGreaterThan(lane.most() * 9 / 10));
    }

    @Test
    void everyRequestIsCountedOnceByEverybody() {
        watch(visit(200, 50, 20));

        pass(Duration.ofSeconds(3));

        assertThat(frames)
                .allSatisfy(frame -> assertThat(frame.lanes())
                        .allSatisfy(lane ->
                                assertThat(lane.admitted() + lane.denied()).isEqualTo(frame.offered())));
        long offered = frames.stream().mapToLong(Frame::offered).sum();
        assertThat(offered).isBetween(595L, 600L);
        assertThat(last().fleet().requests()).isEqualTo(offered);
        Frame.ShaperFrame shaper = last().shaper();
        assertThat(shaper.totalDeparted() + shaper.totalRefused() + shaper.waiting())
                .isEqualTo(offered);
    }

    @Test
    void turnedLimitsHoldFromThenOn() {
        Visit visit = visit(500, 200, 100);
        watch(visit);
        for (Knobs knobs : List.of(new Knobs(400, 7, 3), new Knobs(500, 73, 40), new Knobs(500, 1, 100))) {
            pass(Duration.ofMillis(1_370));
            double before = last().since();

            visit.turn(knobs);
            pass(Duration.ofMillis(200));

            assertThat(last().knobs()).isEqualTo(knobs);
            assertThat(last().since()).isGreaterThan(before);
        }
        pass(Duration.ofSeconds(3));

        assertThatNobodyExceedsTheMost();
    }

    @Test
    void aTurnedRateKeepsTheTotals() {
        Visit visit = visit(500, 50, 20);
        watch(visit);
        pass(Duration.ofSeconds(1));

        visit.turn(new Knobs(0, 50, 20));
        pass(Duration.ofSeconds(1));

        assertThat(last().since()).isZero();
        assertThat(last().offered()).isZero();
        assertThat(last().lanes().get(0).totalDenied()).isPositive();
    }

    @Test
    void departuresAreAnIntervalApartAndNobodyWaitsTooLong() {
        watch(visit(300, 30, 1));

        pass(Duration.ofSeconds(3));

        List<Place> places = frames.stream()
                .flatMap(frame -> frame.shaper().reserved().stream())
                .toList();
        assertThat(places)
                .hasSizeBetween(90, 106)
                .allSatisfy(
                        place -> assertThat(place.departure() - place.arrival()).isBetween(0.0, 500.001));
        for (int i = 1; i < places.size(); i++) {
            // Told in whole microseconds.
            assertThat(places.get(i).departure() - places.get(i - 1).departure())
                    .isGreaterThanOrEqualTo(1_000.0 / 30 - 0.001);
        }
        long departed =
                places.stream().filter(place -> place.departure() <= 3_000).count();
        assertThat(last().shaper().totalDeparted()).isEqualTo(departed);
        assertThat(last().shaper().waiting()).isEqualTo(places.size() - departed);
    }

    @Test
    void theFleetAsksAboutOncePerBatch() {
        watch(visit(400, 200, 1));

        pass(Duration.ofSeconds(5));

        assertThat(frames)
                .flatExtracting(frame -> frame.fleet().nodes())
                .extracting(NodeFrame::credits)
                .allSatisfy(credits -> assertThat(credits).isBetween(0L, 40L));
        FleetFrame fleet = last().fleet();
        assertThat(fleet.storeCalls()).isPositive().isLessThan(fleet.requests() / 10);
        assertThat(fleet.nodes()).allSatisfy(node -> assertThat(node.denied()).isZero());
    }

    @Test
    void theFleetAdmitsItsLimitInASecondAndNoMore() {
        watch(visit(500, 20, 1));

        pass(Duration.ofSeconds(4));

        long admitted =
                last().fleet().nodes().stream().mapToLong(NodeFrame::admitted).sum();
        assertThat(admitted).isBetween(4 * 80L - 4, 5 * 80L);
    }

    @Test
    void aSpikeComesOnTopOfTheRateAndOnce() {
        Visit visit = visit(0, 50, 30);
        visit.spike();
        visit.spike();
        watch(visit);

        pass(Duration.ofMillis(300));

        assertThat(frames.stream().mapToLong(Frame::offered).sum()).isEqualTo(50);
        assertThat(last().lanes().get(0).totalAdmitted()).isEqualTo(30);
        assertThat(last().lanes().get(4).totalAdmitted()).isEqualTo(50);
    }

    @Test
    void cancellingEndsTheLoad() {
        Visit visit = visit(500, 200, 100);
        Disposable watching = watch(visit);
        pass(Duration.ofMillis(300));

        watching.dispose();
        StepVerifier.create(visit.close()).verifyComplete();

        // Only tasks that do nothing any more are left: the store is closed, and nobody asks it.
        pass(Duration.ofSeconds(1));
        assertThat(frames).hasSize(3);
    }

    @Test
    void aLoadOnAClosedStoreEndsTheFrames() {
        Visit visit = visit(500, 200, 100);
        StepVerifier.create(visit.close()).verifyComplete();

        StepVerifier.create(visit.frames())
                .then(() -> pass(Duration.ofMillis(50)))
                .verifyError(StoreUnavailableException.class);
    }

    @Test
    void whoTakesNoFrameForLongHasLeft() {
        StepVerifier.create(visit(10, 1, 1).frames(), 1)
                .then(() -> pass(Duration.ofSeconds(1)))
                .expectNextCount(1)
                .then(() -> pass(Duration.ofSeconds(30)))
                .verifyError(TimeoutException.class);
    }
}
