package io.throttlekit.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Strategy;
import io.throttlekit.limiter.Ledger.Request;
import io.throttlekit.limiter.Ledger.Rules;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The rules of a {@link Ledger}, one by one; {@link LedgerModelTest} says what they add up to. */
class LedgerTest {
    /** A window that lasts until 60, and the next. */
    private static final long FIRST = 60;

    private static final long SECOND = 120;

    private final Told told = new Told();

    private static Rules rules(long batch, long lowWater) {
        return new Rules(100, batch, lowWater, false, 10);
    }

    private static Rules coupled(long batch, long lowWater) {
        return new Rules(100, batch, lowWater, true, 10);
    }

    /** Keeps what became of whom. */
    static final class Told extends ArrayList<String> implements Ledger.Outcomes<String> {
        private static final long serialVersionUID = 1;

        @Override
        public void served(String waiter, long granted, long left, boolean asked) {
            add(waiter + " got " + granted + " of " + (granted + left) + (asked ? ", asked for" : ""));
        }

        @Override
        public void denied(String waiter) {
            add(waiter + " denied");
        }

        @Override
        public void failed(String waiter) {
            add(waiter + " failed");
        }
    }

    private static void enqueue(Ledger<String> ledger, String waiter, long cost) {
        assertThat(ledger.enqueue(waiter, cost, cost)).isTrue();
    }

    /** With this many credits of the first window, after a lease that somebody took the rest of. */
    private Ledger<String> holding(long credits, Rules rules) {
        Ledger<String> ledger = new Ledger<>(rules);
        enqueue(ledger, "holder", rules.batch() - credits);
        assertThat(ledger.lease(0)).isEqualTo(new Request(rules.batch() - credits, rules.batch()));
        ledger.granted(rules.batch(), FIRST, FIRST, 0, told);
        assertThat(ledger.credits()).isEqualTo(credits);
        told.clear();
        return ledger;
    }

    @Test
    void asksForABatchWithWhatIsHere() {
        Ledger<String> empty = new Ledger<>(rules(10, 0));
        Ledger<String> some = holding(7, rules(10, 0));
        enqueue(empty, "a", 3);
        enqueue(some, "b", 9);

        assertThat(empty.lease(0)).isEqualTo(new Request(3, 10));
        assertThat(some.lease(0)).isEqualTo(new Request(2, 3));
    }

    @Test
    void asksForWhatAllNeedIfThatIsMore() {
        Ledger<String> ledger = holding(5, rules(10, 0));
        enqueue(ledger, "a", 12);
        enqueue(ledger, "b", 4);
        assertThat(ledger.enqueue("c", 1, 7)).isTrue();

        assertThat(ledger.lease(0)).isEqualTo(new Request(7, 18));
    }

    @Test
    void addsUpNoFurtherThanOneDecisionCanGrant() {
        Rules rules = new Rules(20, 10, 0, false, 10);
        Ledger<String> empty = new Ledger<>(rules);
        Ledger<String> some = holding(5, rules);
        for (String waiter : List.of("a", "b", "c", "d")) {
            enqueue(empty, waiter, 10);
            enqueue(some, waiter, 10);
        }

        assertThat(empty.lease(0)).isEqualTo(new Request(10, 20));
        // Twenty and the five that are here would make 25, which the third of them exceeds.
        assertThat(some.lease(0)).isEqualTo(new Request(5, 25));
    }

    @Test
    void addsUpCostsOfAnySize() {
        Rules rules = new Rules(Strategy.MAX_COST, 10, 0, false, 2_000);
        Ledger<String> ledger = new Ledger<>(rules);
        for (int i = 0; i < 2_000; i++) {
            enqueue(ledger, "w" + i, i == 0 ? 1 : Strategy.MAX_COST);
        }

        assertThat(ledger.lease(0)).isEqualTo(new Request(1, Strategy.MAX_COST));
    }

    @Test
    void asksOnceAtATimeAndOnlyForThoseWhoWait() {
        Ledger<String> ledger = new Ledger<>(rules(10, 0));
        assertThat(ledger.lease(0)).isNull();
        assertThat(ledger.inFlight()).isFalse();

        enqueue(ledger, "a", 1);
        assertThat(ledger.lease(0)).isNotNull();
        enqueue(ledger, "b", 1);
        assertThat(ledger.lease(0)).isNull();
        assertThat(ledger.inFlight()).isTrue();

        ledger.granted(10, FIRST, FIRST, 0, told);
        assertThat(ledger.inFlight()).isFalse();
        assertThat(ledger.lease(0)).isNull();
    }

    @Test
    void servesThoseWhoWaitInTheirOrderAndNobodyBeforeThem() {
        Ledger<String> ledger = holding(2, rules(3, 0));
        enqueue(ledger, "large", 3);
        enqueue(ledger, "small", 1);

        assertThat(ledger.take(1, 1, 0)).isZero();
        assertThat(ledger.first()).isEqualTo("large");
        assertThat(ledger.lease(0)).isEqualTo(new Request(1, 2));
        enqueue(ledger, "late", 1);
        ledger.granted(2, FIRST, FIRST, 0, told);

        assertThat(told).containsExactly("large got 3 of 4, asked for", "small got 1 of 1, asked for");
        assertThat(ledger.first()).isEqualTo("late");
        assertThat(ledger.waiting()).isTrue();
    }

    @Test
    void takesUpToWhatThereIsAndNotLessThanIsNeeded() {
        Ledger<String> ledger = holding(5, rules(10, 0));

        assertThat(ledger.take(6, 9, 0)).isZero();
        assertThat(ledger.take(1, 2, 0)).isEqualTo(2);
        assertThat(ledger.take(3, 9, 0)).isEqualTo(3);
        assertThat(ledger.take(1, 1, 0)).isZero();
        assertThat(ledger.credits()).isZero();
        assertThat(ledger.waiting()).isFalse();
        assertThat(ledger.first()).isNull();
    }

    @Test
    void turnsAwayWhoFindsTheLineFull() {
        Ledger<String> ledger = new Ledger<>(new Rules(100, 10, 0, false, 2));

        assertThat(ledger.enqueue("a", 1, 1)).isTrue();
        assertThat(ledger.enqueue("b", 1, 1)).isTrue();
        assertThat(ledger.enqueue("c", 1, 1)).isFalse();
    }

    @Test
    void aWindowIsOverAtTheInstantItEnds() {
        Ledger<String> before = holding(5, coupled(10, 0));
        Ledger<String> after = holding(5, coupled(10, 0));
        Ledger<String> free = holding(5, rules(10, 0));

        assertThat(before.take(1, 1, FIRST - 1)).isEqualTo(1);
        assertThat(after.take(1, 1, FIRST)).isZero();
        assertThat(free.take(1, 1, FIRST)).isEqualTo(1);
        assertThat(before.empty(FIRST - 1)).isEqualTo(4);
        assertThat(free.empty(FIRST)).isZero();
    }

    @Test
    void coupledCreditsAreNotCountedOnceTheirWindowIsOver() {
        Ledger<String> ledger = holding(5, coupled(10, 0));
        Ledger<String> free = holding(5, rules(10, 0));
        enqueue(ledger, "a", 6);
        enqueue(free, "a", 6);

        assertThat(ledger.lease(FIRST)).isEqualTo(new Request(6, 10));
        assertThat(free.lease(FIRST)).isEqualTo(new Request(1, 5));
    }

    @Test
    void coupledCreditsEndWithAGrantOfAnotherWindow() {
        Ledger<String> coupled = holding(5, coupled(10, 0));
        Ledger<String> free = holding(5, rules(10, 0));
        for (Ledger<String> ledger : List.of(coupled, free)) {
            enqueue(ledger, "a", 6);
            assertThat(ledger.lease(0)).isEqualTo(new Request(1, 5));
            ledger.granted(5, SECOND, SECOND, FIRST, told);
        }

        assertThat(told).containsExactly("a got 6 of 10, asked for");
        assertThat(coupled.first()).isEqualTo("a");
    }

    @Test
    void coupledCreditsAndALateGrantOfTheirWindowAddUpForThoseWhoAsked() {
        Ledger<String> ledger = holding(5, coupled(10, 0));
        enqueue(ledger, "a", 6);
        ledger.lease(0);
        enqueue(ledger, "b", 1);

        ledger.granted(5, FIRST, FIRST, FIRST, told);

        // Who came later belongs to the window that began, in which there is nothing yet.
        assertThat(told).containsExactly("a got 6 of 10, asked for");
        assertThat(ledger.credits()).isZero();
    }

    @Test
    void refillsBelowTheLowWaterOnly() {
        assertThat(holding(3, rules(10, 3)).refill(0)).isNull();
        assertThat(holding(2, rules(10, 3)).refill(0)).isEqualTo(new Request(1, 10));
        assertThat(holding(0, rules(10, 0)).refill(0)).isNull();
        assertThat(new Ledger<>(rules(10, 3)).refill(0)).isNull();
    }

    @Test
    void refillsOnceAtATimeAndNotWhileSomebodyWaits() {
        Ledger<String> ledger = holding(2, rules(10, 3));
        Ledger<String> awaited = holding(2, rules(10, 3));
        enqueue(awaited, "a", 3);

        assertThat(awaited.refill(0)).isNull();
        assertThat(ledger.refill(0)).isNotNull();
        assertThat(ledger.refill(0)).isNull();
    }

    @Test
    void refillsAgainAfterAFullGrantAndNotAfterLess() {
        Ledger<String> full = holding(2, rules(10, 3));
        Ledger<String> less = holding(2, rules(10, 3));
        Ledger<String> denied = holding(2, rules(10, 3));
        Ledger<String> failed = holding(2, rules(10, 3));
        for (Ledger<String> ledger : List.of(full, less, denied, failed)) {
            ledger.refill(0);
        }

        full.granted(10, FIRST, FIRST, 0, told);
        less.granted(9, FIRST, FIRST, 0, told);
        denied.denied(0, told);
        failed.failed(0, told);
        assertThat(full.take(12, 12, 0)).isEqualTo(12);
        assertThat(less.take(11, 11, 0)).isEqualTo(11);

        assertThat(full.refill(0)).isEqualTo(new Request(1, 10));
        assertThat(less.refill(0)).isNull();
        assertThat(denied.refill(0)).isNull();
        assertThat(failed.refill(0)).isNull();
        assertThat(told).isEmpty();
    }

    @Test
    void aRefillIsNobodysNeed() {
        Ledger<String> ledger = holding(2, rules(10, 3));
        ledger.refill(0);
        enqueue(ledger, "a", 3);

        ledger.granted(10, FIRST, FIRST, 0, told);

        assertThat(told).containsExactly("a got 3 of 12");
        assertThat(ledger.credits()).isEqualTo(9);
    }

    @Test
    void aRefillOfCoupledCreditsDropsThoseWhoseWindowIsOver() {
        Ledger<String> ledger = holding(2, coupled(10, 3));
        Ledger<String> free = holding(2, rules(10, 3));

        assertThat(ledger.refill(FIRST)).isNotNull();
        assertThat(free.refill(FIRST)).isNotNull();

        assertThat(ledger.credits()).isZero();
        assertThat(free.credits()).isEqualTo(2);
    }

    @Test
    void whatWaitersLeftIsKeptUpToTheBoundAndReturnedBeyond() {
        Ledger<String> ledger = new Ledger<>(rules(10, 3));
        enqueue(ledger, "a", 30);
        ledger.lease(0);
        assertThat(ledger.cancel("a", 0, told)).isTrue();
        assertThat(ledger.cancel("a", 0, told)).isFalse();

        ledger.granted(30, FIRST, FIRST, 0, told);

        assertThat(ledger.credits()).isEqualTo(12);
        assertThat(ledger.takeSurplus()).isEqualTo(18);
        assertThat(ledger.takeSurplus()).isZero();
        assertThat(ledger.empty(0)).isEqualTo(12);
        assertThat(told).isEmpty();
    }

    @Test
    void whatWaitersLeftServesThoseWhoCameLaterBeforeItGoesBack() {
        Ledger<String> ledger = new Ledger<>(rules(10, 0));
        enqueue(ledger, "a", 30);
        ledger.lease(0);
        enqueue(ledger, "b", 25);
        ledger.cancel("a", 0, told);

        ledger.granted(30, FIRST, FIRST, FIRST - 1, told);

        assertThat(told).containsExactly("b got 25 of 30");
        assertThat(ledger.credits()).isEqualTo(5);
        assertThat(ledger.takeSurplus()).isZero();
    }

    @Test
    void whatComesTooLateIsGivenUpBeyondTheBoundBeforeAnybodyElseIsServed() {
        Ledger<String> ledger = new Ledger<>(rules(10, 0));
        enqueue(ledger, "a", 30);
        ledger.lease(0);
        enqueue(ledger, "b", 9);
        enqueue(ledger, "c", 1);
        ledger.cancel("a", 0, told);

        ledger.granted(30, FIRST, FIRST, FIRST, told);

        assertThat(told).containsExactly("b got 9 of 9");
        assertThat(ledger.credits()).isZero();
        assertThat(ledger.takeSurplus()).isZero();
    }

    @Test
    void whatWasSpentMeanwhileCountsAgainstTheBoundOfALateGrant() {
        Ledger<String> taken = holding(5, rules(10, 0));
        Ledger<String> fast = holding(5, rules(10, 0));
        Ledger<String> served = holding(5, rules(10, 0));
        for (Ledger<String> ledger : List.of(taken, fast, served)) {
            enqueue(ledger, "a", 30);
            assertThat(ledger.lease(0)).isEqualTo(new Request(25, 25));
        }
        enqueue(served, "b", 2);
        for (Ledger<String> ledger : List.of(taken, fast, served)) {
            ledger.cancel("a", 0, told);
        }
        taken.take(2, 2, 0);
        fast.credits(3);

        for (Ledger<String> ledger : List.of(taken, fast, served)) {
            ledger.granted(25, FIRST, FIRST, FIRST, told);

            assertThat(ledger.credits()).isEqualTo(9 - 2);
        }
        assertThat(told).containsExactly("b got 2 of 5");
    }

    @Test
    void thoseWhoAskedDoNotCountAgainstTheBoundOfALateGrant() {
        Ledger<String> ledger = new Ledger<>(rules(10, 0));
        enqueue(ledger, "a", 1);
        ledger.lease(0);

        ledger.granted(10, FIRST, FIRST, FIRST, told);

        assertThat(told).containsExactly("a got 1 of 10, asked for");
        assertThat(ledger.credits()).isEqualTo(9);
    }

    @Test
    void aDenialIsForThoseWhoNeedExactlyWhatWasDenied() {
        Ledger<String> ledger = holding(2, rules(10, 0));
        enqueue(ledger, "a", 5);
        enqueue(ledger, "b", 1);
        enqueue(ledger, "c", 5);
        enqueue(ledger, "d", 4);
        ledger.lease(0);

        ledger.denied(0, told);

        assertThat(told).containsExactly("a denied", "c denied", "b got 1 of 2");
        assertThat(ledger.inFlight()).isFalse();
        assertThat(ledger.lease(0)).isEqualTo(new Request(3, 9));
    }

    @Test
    void theDenialOfARefillIsForThoseWhoNeedOneUnitMoreThanThereIs() {
        Ledger<String> ledger = holding(2, rules(10, 3));
        ledger.refill(0);
        enqueue(ledger, "a", 3);
        enqueue(ledger, "b", 4);
        enqueue(ledger, "c", 1);

        ledger.denied(0, told);

        assertThat(told).containsExactly("a denied");
        assertThat(ledger.first()).isEqualTo("b");
    }

    @Test
    void theDenialOfARefillCountsNoCreditsWhoseWindowIsOver() {
        Ledger<String> ledger = holding(2, coupled(10, 3));
        ledger.refill(0);
        enqueue(ledger, "a", 1);
        enqueue(ledger, "b", 3);

        ledger.denied(FIRST, told);

        assertThat(told).containsExactly("a denied");
        assertThat(ledger.credits()).isZero();
    }

    @Test
    void aFailureIsForThoseWhomCreditsDoNotServe() {
        Ledger<String> ledger = holding(4, rules(10, 0));
        enqueue(ledger, "a", 5);
        enqueue(ledger, "b", 1);
        enqueue(ledger, "c", 4);
        assertThat(ledger.enqueue("d", 1, 9)).isTrue();
        ledger.lease(0);

        ledger.failed(0, told);

        assertThat(told).containsExactly("a failed", "b got 1 of 4", "c failed", "d got 3 of 3");
        assertThat(ledger.waiting()).isFalse();
        assertThat(ledger.inFlight()).isFalse();
    }

    @Test
    void coupledCreditsServeNobodyThroughAFailureOrADenialOfALaterWindow() {
        Ledger<String> failed = holding(4, coupled(10, 0));
        Ledger<String> denied = holding(4, coupled(10, 0));
        for (Ledger<String> ledger : List.of(failed, denied)) {
            enqueue(ledger, "a", 5);
            enqueue(ledger, "b", 1);
            ledger.lease(0);
        }

        failed.failed(FIRST, told);
        denied.denied(FIRST, told);

        assertThat(told).containsExactly("a failed", "b failed", "a denied");
        assertThat(denied.first()).isEqualTo("b");
        assertThat(denied.credits()).isZero();
    }

    @Test
    void whoStoodBehindAWaiterThatLeavesIsServedFromCredits() {
        Ledger<String> ledger = holding(4, coupled(10, 0));
        Ledger<String> over = holding(4, coupled(10, 0));
        for (Ledger<String> each : List.of(ledger, over)) {
            enqueue(each, "a", 5);
            enqueue(each, "b", 3);
            each.lease(0);
        }

        assertThat(ledger.cancel("a", FIRST - 1, told)).isTrue();
        assertThat(over.cancel("a", FIRST, told)).isTrue();

        assertThat(told).containsExactly("b got 3 of 4");
        assertThat(over.first()).isEqualTo("b");
    }

    @Test
    void unitsOfAWaiterThatHadLeftAreCreditsAgainInTheirWindow() {
        Ledger<String> ledger = holding(4, rules(10, 0));

        ledger.giveBack(3, FIRST, FIRST - 1, told);
        assertThat(ledger.credits()).isEqualTo(7);
        assertThat(ledger.takeSurplus()).isZero();
        ledger.giveBack(3, FIRST, FIRST - 1, told);
        assertThat(ledger.credits()).isEqualTo(9);
        assertThat(ledger.takeSurplus()).isEqualTo(1);
        assertThat(ledger.empty(FIRST - 1)).isEqualTo(9);
    }

    @Test
    void unitsThatAreGivenBackServeThoseWhoWait() {
        Ledger<String> ledger = holding(4, rules(10, 0));
        enqueue(ledger, "a", 6);
        ledger.lease(0);

        ledger.giveBack(3, FIRST, 0, told);

        assertThat(told).containsExactly("a got 6 of 7");
    }

    @Test
    void unitsOfAnotherWindowOrOfAResetKeyAreNotTakenBack() {
        Ledger<String> ledger = holding(4, rules(10, 0));
        Ledger<String> reset = holding(4, rules(10, 0));
        enqueue(reset, "a", 6);
        reset.lease(0);
        reset.discard();

        ledger.giveBack(3, SECOND, 0, told);
        ledger.giveBack(3, FIRST, FIRST, told);
        reset.giveBack(3, FIRST, 0, told);

        assertThat(ledger.credits()).isEqualTo(4);
        assertThat(reset.credits()).isZero();
        new Ledger<String>(rules(10, 0)).giveBack(3, 0, -1, told);
        assertThat(told).isEmpty();
    }

    @Test
    void whatIsOnItsWayToAResetKeyServesThoseWhoAskedAndIsForgotten() {
        Ledger<String> ledger = holding(4, rules(10, 3));
        enqueue(ledger, "a", 6);
        ledger.lease(0);

        ledger.discard();
        assertThat(ledger.credits()).isZero();
        ledger.granted(8, FIRST, FIRST, 0, told);

        assertThat(told).containsExactly("a got 6 of 8, asked for");
        assertThat(ledger.credits()).isZero();
        assertThat(ledger.takeSurplus()).isZero();
    }

    @Test
    void aResetForgetsOneReplyAndNoFurther() {
        Ledger<String> granted = holding(4, rules(10, 0));
        Ledger<String> denied = holding(4, rules(10, 0));
        Ledger<String> failed = holding(4, rules(10, 0));
        Ledger<String> idle = holding(4, rules(10, 0));
        for (Ledger<String> ledger : List.of(granted, denied, failed)) {
            enqueue(ledger, "a", 6);
            ledger.lease(0);
            ledger.discard();
        }

        granted.granted(6, FIRST, FIRST, 0, told);
        denied.denied(0, told);
        failed.failed(0, told);
        idle.discard();

        for (Ledger<String> ledger : List.of(granted, denied, failed, idle)) {
            enqueue(ledger, "b", 1);
            assertThat(ledger.lease(0)).isEqualTo(new Request(1, 10));
            ledger.granted(10, FIRST, FIRST, 0, told);
            assertThat(ledger.credits()).isEqualTo(9);
        }
    }

    @Test
    void refundsOnlyWhatTheLastWindowGranted() {
        Ledger<String> same = holding(2, rules(10, 3));
        Ledger<String> other = holding(2, rules(10, 3));
        same.refill(0);
        other.refill(0);

        same.granted(10, FIRST, FIRST, 0, told);
        other.granted(10, SECOND, SECOND, FIRST, told);

        assertThat(same.credits()).isEqualTo(12);
        assertThat(other.credits()).isEqualTo(12);
        assertThat(same.empty(FIRST - 1)).isEqualTo(12);
        assertThat(other.empty(SECOND - 1)).isEqualTo(10);
        assertThat(same.credits()).isZero();
    }

    @Test
    void refundsNoMoreThanIsLeftOfTheLastWindow() {
        Ledger<String> ledger = holding(2, rules(10, 3));
        ledger.refill(0);
        ledger.granted(10, SECOND, SECOND, FIRST, told);
        ledger.take(11, 11, FIRST);
        assertThat(ledger.credits()).isEqualTo(1);

        // The surplus went back already, and does not go back twice.
        ledger.giveBack(20, SECOND, FIRST, told);

        assertThat(ledger.takeSurplus()).isEqualTo(9);
        assertThat(ledger.credits()).isEqualTo(12);
        assertThat(ledger.empty(FIRST)).isEqualTo(12);
        assertThat(new Ledger<String>(rules(10, 3)).empty(-1)).isZero();
    }

    @Test
    void aSurplusIsTakenFromWhatCanBeRefunded() {
        Ledger<String> ledger = holding(9, rules(10, 0));
        enqueue(ledger, "a", 14);
        assertThat(ledger.lease(0)).isEqualTo(new Request(5, 5));
        ledger.cancel("a", 0, told);

        ledger.granted(5, SECOND, SECOND, FIRST, told);

        // Nine are of the first window, which is over: the five of the second went back.
        assertThat(ledger.takeSurplus()).isEqualTo(5);
        assertThat(ledger.credits()).isEqualTo(9);
        assertThat(ledger.empty(FIRST)).isZero();
    }
}
