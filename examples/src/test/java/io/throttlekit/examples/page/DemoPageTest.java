package io.throttlekit.examples.page;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.netty.http.client.HttpClient;

/** The page as a visitor sees it, in a real browser. */
class DemoPageTest {
    private static final String LIVE = "document.body.dataset.state === 'live'";
    private static final String EVENTS = "/page/events?rate=120&limit=50&burst=20";

    private static Browser browser;

    private final DemoPage page = DemoPage.create();
    private PageServer server = PageServer.start(page, 0);

    @BeforeAll
    static void openBrowser() {
        browser = Browser.open();
    }

    @AfterAll
    static void closeBrowser() {
        browser.close();
    }

    @BeforeEach
    void load() {
        browser.complaints();
        browser.load(server.address("/"));
        browser.until(LIVE + " && " + total("gcra", "admitted") + " > 0");
    }

    @AfterEach
    void leave() {
        browser.reset();
        browser.load("about:blank");
        server.close();
    }

    /** A JavaScript expression for a number that a lane shows. */
    private static String total(String lane, String name) {
        return "Number(document.querySelector('[data-lane=" + lane + "] [data-total=" + name
                + "]')?.textContent.replace(/[^0-9]/g, ''))";
    }

    private static String fleet(String name) {
        return "Number(document.querySelector('[data-fleet=" + name + "]')?.textContent.replace(/[^0-9]/g, ''))";
    }

    @Test
    void theConsoleStaysEmpty() {
        browser.until(total("quota", "admitted") + " > 60");

        assertThat(browser.complaints()).isEmpty();
    }

    @Test
    void everyLaneMoves() {
        List<WebElement> lanes = browser.elements("[data-lane]");
        assertThat(lanes).hasSize(6);

        for (WebElement lane : lanes) {
            String name = requireNonNull(lane.getDomAttribute("data-lane"));
            String bars = "document.querySelector('[data-lane=" + name + "] .layer')";
            Object before = browser.value(bars + ".style.transform");

            browser.until(total(name, "admitted") + " > " + browser.number(total(name, "admitted")));
            browser.until(bars + ".style.transform !== '" + before + "'");
            browser.until(bars + ".querySelector('.bar-admitted').getBBox().height > 1");
        }
    }

    @Test
    void aLowerLimitDeniesMore() {
        browser.until(total("gcra", "denied") + " > 40");
        double before = browser.number(total("gcra", "share"));

        browser.element("#limit").sendKeys(Keys.HOME);

        browser.until("document.querySelector('[data-value=limit]').textContent === '1'");
        browser.until(total("gcra", "share") + " <= 5 && " + total("fixedWindow", "share") + " <= 5");
        assertThat(before).isBetween(30.0, 80.0);
    }

    @Test
    void aSpikeShowsWhatABurstIs() {
        browser.element("#rate").sendKeys(Keys.HOME);
        browser.element("#burst").sendKeys(Keys.END);
        // Without a load the bucket fills to the last token.
        browser.until("document.querySelector('[data-lane=gcra] [data-total=share]').textContent === '–'");

        double before = browser.number(total("gcra", "admitted"));
        browser.element("#spike").click();

        browser.until(total("gcra", "admitted") + " === " + (before + 50));
        assertThat(browser.number(total("gcra", "denied"))).isZero();
    }

    @Test
    void gcraStaysWithinBurstAndRateByThePagesNumbers() {
        // Navigation is before the visit, so by the page's own clock the visit is younger than this says.
        List<Double> excess = browser.numbers("""
                const excess = [];
                const look = () => {
                  const admitted = %s;
                  excess.push(admitted - Math.min(%s, 20 + 50 * performance.now() / 1000));
                  excess.length < 30 ? setTimeout(look, 50) : done([...excess, admitted]);
                };
                look();
                """.formatted(total("gcra", "admitted"), total("gcra", "most")));

        assertThat(excess.subList(0, 30)).allSatisfy(above -> assertThat(above).isNotPositive());
        assertThat(excess.get(30)).isGreaterThan(50);
    }

    @Test
    void departuresAreAnIntervalApart() {
        List<Double> departures = browser.numbers("""
                const departures = [];
                const source = new EventSource('%s');
                source.addEventListener('frame', event => {
                  departures.push(...JSON.parse(event.data).shaper.reserved.map(place => place.departure));
                  if (departures.length > 60) {
                    source.close();
                    done(departures);
                  }
                });
                """.formatted(EVENTS));
        List<Double> drawn = browser.numbers("""
                const path = document.querySelector('#shaper .dot').getAttribute('d');
                done([...path.matchAll(/M(-?[0-9.]+) /g)].map(match => Number(match[1])));
                """);

        // Departures are told in whole microseconds.
        assertThat(gaps(departures)).allSatisfy(gap -> assertThat(gap).isGreaterThanOrEqualTo(19.999));
        assertThat(gaps(drawn)).isNotEmpty().allSatisfy(gap -> assertThat(gap).isGreaterThanOrEqualTo(3));
        assertThat(browser.value("document.getElementById('interval').textContent"))
                .isEqualTo("20");
    }

    private static List<Double> gaps(List<Double> ascending) {
        List<Double> gaps = new ArrayList<>();
        for (int i = 1; i < ascending.size(); i++) {
            gaps.add(ascending.get(i) - ascending.get(i - 1));
        }
        return gaps;
    }

    @Test
    void theFleetSpendsItsCreditsAndRarelyAsks() {
        List<Double> credits = browser.numbers("""
                const credits = [];
                const look = () => {
                  document.querySelectorAll('.gauge').forEach(gauge => credits.push(Number(gauge.getAttribute('aria-valuenow'))));
                  %s < 150 ? setTimeout(look, 50) : done(credits);
                };
                look();
                """.formatted(fleet("requests")));

        assertThat(credits).allSatisfy(credit -> assertThat(credit).isBetween(0.0, 10.0));
        assertThat(new HashSet<>(credits)).hasSizeGreaterThan(3);
        assertThat(browser.number(fleet("storeCalls") + " / " + fleet("requests")))
                .isBetween(0.01, 0.25);
    }

    @Test
    void theKeyboardReachesAndTurnsEveryKnob() {
        Set<String> reached = new HashSet<>();
        for (int tabs = 0; tabs < 5; tabs++) {
            browser.press(Keys.TAB);
            String id = browser.focused();
            reached.add(id);
            if (Set.of("rate", "limit", "burst").contains(id)) {
                String value = "document.getElementById('" + id + "').valueAsNumber";
                double before = browser.number(value);

                browser.press(Keys.ARROW_RIGHT);
                assertThat(browser.number(value)).isGreaterThan(before);
                assertThat(browser.number("Number(document.querySelector('[data-value=" + id + "]').textContent)"))
                        .isEqualTo(browser.number(value));
                browser.press(Keys.ARROW_LEFT);
                assertThat(browser.number(value)).isEqualTo(before);
            }
        }

        assertThat(reached).containsExactlyInAnyOrder("rate", "limit", "burst", "spike", "pause");
    }

    @Test
    void aPhoneDoesNotScrollSideways() {
        browser.screen(360, 640, true);

        assertThat(browser.number("document.documentElement.scrollWidth")).isLessThanOrEqualTo(360);
        assertThat(
                        browser.number(
                                "Math.max(...[...document.querySelectorAll('body *:not(svg *)')].map(e => e.getBoundingClientRect().right))"))
                .isLessThanOrEqualTo(360);
    }

    @Test
    void everyControlAndPictureHasAName() {
        List<WebElement> named = browser.elements("input, button, form, section, [role=img], [role=meter]");

        assertThat(named)
                .hasSizeGreaterThan(15)
                .allSatisfy(element -> assertThat(element.getAccessibleName())
                        .as(element.getDomProperty("outerHTML"))
                        .isNotBlank());
    }

    @Test
    void whoPrefersLessMotionGetsStills() {
        browser.prefer("prefers-reduced-motion", "reduce");
        double before = browser.number(total("gcra", "admitted"));

        browser.until(total("gcra", "admitted") + " > " + before);

        String shift = "document.querySelector('[data-lane=gcra] .layer').style.transform";
        assertThat(browser.value(shift)).isEqualTo("translateX(0px)");
        browser.until("new Promise(frame => requestAnimationFrame(() => requestAnimationFrame(frame)))");
        assertThat(browser.value(shift)).isEqualTo("translateX(0px)");
    }

    @Test
    void pausingGivesTheSeatBackAndResumingTakesOne() {
        server.awaitVisitors(1);

        browser.element("#pause").click();
        server.awaitVisitors(0);
        assertThat(browser.element("#state").getText()).isEqualTo("Paused");

        browser.element("#pause").click();
        browser.until(LIVE);
        server.awaitVisitors(1);
    }

    @Test
    void leavingEndsTheStream() {
        server.awaitVisitors(1);

        browser.load("about:blank");

        server.awaitVisitors(0);
    }

    @Test
    void aLostConnectionIsShownAndComesBack() {
        int port = server.port();
        server.close();
        browser.until("document.body.dataset.state === 'lost'");
        assertThat(browser.element("#state").getText()).startsWith("Connection lost");
        server.awaitVisitors(0);

        server = PageServer.start(page, port);

        browser.until(LIVE);
    }

    @Test
    void whoFindsNoSeatIsToldAndGetsTheNextOne() {
        browser.load("about:blank");
        server.awaitVisitors(0);
        Disposable.Composite others = Disposables.composite();
        for (int seat = 0; seat < DemoPage.SEATS; seat++) {
            others.add(HttpClient.create()
                    .get()
                    .uri(server.address(EVENTS))
                    .responseContent()
                    .subscribe());
        }
        server.awaitVisitors(DemoPage.SEATS);

        browser.load(server.address("/"));
        browser.until("document.body.dataset.state === 'full'");
        assertThat(browser.element("#state").getText()).contains("seats are taken");

        others.dispose();
        browser.until(LIVE);
    }
}
