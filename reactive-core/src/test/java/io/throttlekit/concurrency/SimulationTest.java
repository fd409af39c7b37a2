package io.throttlekit.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualClock;
import io.throttlekit.concurrency.Simulation.Ceiling;
import io.throttlekit.concurrency.Simulation.Point;
import io.throttlekit.concurrency.Simulation.Service;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The laws against a simulated server, the plain law beside them where it goes wrong. */
class SimulationTest {
    private static final double TENTH = 0.1;
    private static final double EXPONENTIAL = 1;
    private static final Service STEADY = now -> 50_000;

    enum Kind {
        GRADIENT2,
        AIMD;

        AdaptiveConcurrency.Builder builder() {
            return this == AIMD ? AdaptiveConcurrency.aimd() : AdaptiveConcurrency.gradient2();
        }
    }

    /** A server, and how much of what it can do is asked of it. */
    private record Server(int capacity, Service service, double noise, double load) {
        List<Point> under(ManualClock clock, Ceiling ceiling, int seconds, long seed) {
            return new Simulation(seed, clock, ceiling, capacity, service, noise, load * capacity / service.micros(0))
                    .run(Duration.ofSeconds(seconds));
        }

        List<Point> under(AdaptiveConcurrency.Builder options, int seconds, long seed) {
            ManualClock clock = ManualClock.at(0);
            return under(clock, Ceiling.of(options.clock(clock).build()), seconds, seed);
        }

        List<Point> underThePlainLaw(int seconds) {
            ManualClock clock = ManualClock.at(0);
            return under(clock, Ceiling.of(new PlainGradient2(4, 512, 100), clock), seconds, 1);
        }
    }

    private static List<Integer> limitsFrom(int seconds, List<Point> points) {
        return points.stream()
                .filter(point -> point.millis() >= seconds * 1000L)
                .map(Point::limit)
                .toList();
    }

    private static int doneFrom(int seconds, List<Point> points) {
        return points.stream()
                .filter(point -> point.millis() > seconds * 1000L)
                .mapToInt(Point::done)
                .sum();
    }

    @ParameterizedTest
    @CsvSource({
        "GRADIENT2, 50, 1", "GRADIENT2, 100, 2", "GRADIENT2, 300, 3",
        "AIMD, 20, 1", "AIMD, 100, 2", "AIMD, 300, 3"
    })
    void settlesWithinAFifthOfTheCapacity(Kind law, int capacity, long seed) {
        Server server = new Server(capacity, STEADY, TENTH, 2);

        List<Point> points = server.under(law.builder(), 25, seed);

        assertThat(limitsFrom(15, points))
                .allSatisfy(limit -> assertThat((double) limit).isBetween(0.8 * capacity, 1.2 * capacity));
        assertThat(doneFrom(15, points)).isGreaterThan((int) (0.9 * 10 * capacity / 0.05));
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void neitherRunsAwayNorCollapsesWhenServiceTimesAreExponential(Kind law) {
        Server server = new Server(100, STEADY, EXPONENTIAL, 2);

        List<Point> points = server.under(law.builder(), 40, 1);

        assertThat(limitsFrom(20, points)).allSatisfy(limit -> assertThat(limit).isBetween(80, 200));
    }

    @Test
    void thePlainLawRunsToTheMaximumOnTheSameServers() {
        List<Point> even = new Server(100, STEADY, TENTH, 2).underThePlainLaw(10);
        List<Point> varied = new Server(100, STEADY, EXPONENTIAL, 2).underThePlainLaw(10);

        assertThat(limitsFrom(5, even)).containsOnly(512);
        assertThat(limitsFrom(5, varied)).allSatisfy(limit -> assertThat(limit).isLessThan(10));
    }

    /** A window is one of 100 samples; the server does twenty of them per second. */
    @ParameterizedTest
    @CsvSource({"GRADIENT2, 40", "AIMD, 100"})
    void recoversFromASpikeWithinSoManyWindows(Kind law, int windows) {
        Service spike = now -> now >= 10_000_000 && now < 11_000_000 ? 500_000 : 50_000;
        Server server = new Server(100, spike, TENTH, 2);

        List<Point> points = server.under(law.builder(), 20, 1);

        long recovered = points.stream()
                .filter(point -> point.millis() > 11_500 && point.limit() >= 80)
                .findFirst()
                .orElseThrow()
                .millis();
        assertThat(recovered).isLessThanOrEqualTo(11_500 + windows * 50L);
        assertThat(limitsFrom(17, points)).allSatisfy(limit -> assertThat(limit).isBetween(80, 120));
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void holdsWhenTheServerBecomesSlower(Kind law) {
        Service rising = now -> 50_000 + Math.max(0, Math.min(50_000, (now - 10_000_000) / 200));
        Server server = new Server(100, rising, TENTH, 2);

        List<Point> points = server.under(law.builder(), 30, 1);

        assertThat(limitsFrom(10, points)).allSatisfy(limit -> assertThat(limit).isBetween(75, 120));
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void takesTheCutBackWhenTheServerIsSlowerAllAtOnce(Kind law) {
        Service step = now -> now < 10_000_000 ? 50_000 : 100_000;
        Server server = new Server(100, step, TENTH, 2);

        List<Point> points = server.under(law.builder(), 20, 1);

        assertThat(limitsFrom(10, points)).allSatisfy(limit -> assertThat(limit).isBetween(50, 140));
        assertThat(limitsFrom(13, points)).allSatisfy(limit -> assertThat(limit).isBetween(80, 120));
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void findsTheCapacityFromAboveToo(Kind law) {
        Server server = new Server(100, STEADY, TENTH, 4);

        List<Point> points = server.under(law.builder().initialLimit(300), 40, 1);

        assertThat(limitsFrom(30, points)).allSatisfy(limit -> assertThat(limit).isBetween(80, 120));
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void isNotMovedByOneLuckySample(Kind law) {
        boolean[] lucky = new boolean[1];
        Service once = now -> {
            if (now < 10_000_000 || lucky[0]) {
                return 50_000;
            }
            lucky[0] = true;
            return 500;
        };
        Server server = new Server(100, once, TENTH, 2);

        List<Point> points = server.under(law.builder(), 15, 1);

        assertThat(limitsFrom(10, points)).allSatisfy(limit -> assertThat(limit).isBetween(80, 120));
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void leavesHealthyTrafficAtTheMaximumAlone(Kind law) {
        Server even = new Server(1000, STEADY, TENTH, 0.5);
        Server varied = new Server(1000, STEADY, EXPONENTIAL, 0.5);

        List<Point> one = even.under(law.builder().maxLimit(64), 20, 1);
        List<Point> two = varied.under(law.builder().maxLimit(64), 20, 1);

        assertThat(limitsFrom(10, one)).containsOnly(64);
        assertThat(limitsFrom(10, two)).containsOnly(64);
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void doesNotGrowWhileLessThanHalfIsInUse(Kind law) {
        Server server = new Server(1000, STEADY, TENTH, 0.015);

        List<Point> points = server.under(law.builder().minLimit(4).initialLimit(60), 60, 1);

        assertThat(limitsFrom(0, points)).allSatisfy(limit -> assertThat(limit).isLessThanOrEqualTo(60));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void neverLeavesItsBounds(long seed) {
        Service wild = now -> 1_000 + (now * 7919 % 97) * (now / 1_000_000 % 7) * 500;
        Server server = new Server(60, wild, EXPONENTIAL, 0.05);

        List<Point> points = server.under(
                (seed % 2 == 0 ? Kind.AIMD : Kind.GRADIENT2)
                        .builder()
                        .minLimit(7)
                        .maxLimit(90),
                20,
                seed);

        assertThat(limitsFrom(0, points)).allSatisfy(limit -> assertThat(limit).isBetween(7, 90));
    }

    @Test
    void isTheSameForTheSameSeed() {
        Server server = new Server(100, STEADY, EXPONENTIAL, 2);

        List<Point> one = server.under(AdaptiveConcurrency.gradient2(), 5, 7);
        List<Point> two = server.under(AdaptiveConcurrency.gradient2(), 5, 7);

        assertThat(one).isEqualTo(two);
    }

    @Test
    void drawsThePicture() throws Exception {
        Service story = now -> now >= 10_000_000 && now < 11_000_000
                ? 500_000
                : 50_000 + Math.max(0, Math.min(50_000, (now - 16_000_000) / 100));
        Server server = new Server(100, story, TENTH, 2);
        Picture picture = new Picture(100, 30_000, 520)
                .note(10_000, "10 × slower for 1 s")
                .note(16_000, "no-load RTT doubles")
                .line("plain gradient2", "#c0392b", server.underThePlainLaw(30))
                .line("aimd", "#2980b9", server.under(AdaptiveConcurrency.aimd(), 30, 1))
                .line("gradient2", "#27ae60", server.under(AdaptiveConcurrency.gradient2(), 30, 1));

        Path file = Files.writeString(Path.of("target", "concurrency.svg"), picture.svg());

        assertThat(file).content().startsWith("<svg").contains("gradient2").endsWith("</svg>\n");
    }
}
