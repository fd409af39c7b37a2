package io.throttlekit.examples.page;

import static java.util.Objects.requireNonNull;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/** A headless Chromium. It has to be there: a page that nobody looked at is not tested. */
final class Browser implements AutoCloseable {
    private static final String MISSING = "%s is not here. Tests of the demo's page need a real browser:"
            + " apt-get install chromium chromium-driver, or set THROTTLEKIT_CHROMIUM and THROTTLEKIT_CHROMEDRIVER to the"
            + " paths of a Chromium or Chrome and of its driver";

    private static final String UNTIL = """
            const done = arguments[arguments.length - 1];
            const look = () => {
              const found = (%s);
              found ? done(found) : setTimeout(look, 20);
            };
            look();
            """;

    /** Complains that it knows no bindings for the browser's very version, which nothing here needs. */
    private static final Logger VERSIONS = Logger.getLogger("org.openqa.selenium.devtools.CdpVersionFinder");

    static {
        VERSIONS.setLevel(Level.SEVERE);
    }

    private final ChromeDriver driver;

    private Browser(ChromeDriver driver) {
        this.driver = driver;
    }

    static Browser open() {
        Path chromium = program("THROTTLEKIT_CHROMIUM", "chromium", "chromium-browser", "google-chrome");
        Path chromedriver = program("THROTTLEKIT_CHROMEDRIVER", "chromedriver");
        ChromeOptions options = new ChromeOptions();
        options.setBinary(chromium.toFile());
        // No sandbox: a container gives none, and the one page that is opened is ours.
        options.addArguments(
                "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=1280,900");
        LoggingPreferences logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, Level.WARNING);
        options.setCapability("goog:loggingPrefs", logs);
        ChromeDriverService service = new ChromeDriverService.Builder()
                .usingDriverExecutable(chromedriver.toFile())
                .usingAnyFreePort()
                .build();
        ChromeDriver driver = new ChromeDriver(service, options);
        driver.manage().timeouts().scriptTimeout(Duration.ofSeconds(20));
        return new Browser(driver);
    }

    /** The program that a variable names, or the first of some names that there is. */
    private static Path program(String variable, String... names) {
        String given = System.getenv(variable);
        Stream<Path> candidates = given != null
                ? Stream.of(Path.of(given))
                : Stream.of(names)
                        .flatMap(name -> Stream.of(
                                        System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                                .map(directory -> Path.of(directory, name)));
        return candidates
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(
                        MISSING.formatted(given != null ? variable + "=" + given : names[0])));
    }

    void load(String address) {
        driver.get(address);
    }

    /** Waits, in the page, for a JavaScript expression to become true, and returns its value. */
    Object until(String expression) {
        return requireNonNull(driver.executeAsyncScript(UNTIL.formatted(expression)));
    }

    /** The value of a JavaScript expression. */
    Object value(String expression) {
        return requireNonNull(driver.executeScript("return " + expression));
    }

    /** The number that a JavaScript expression is. */
    double number(String expression) {
        return ((Number) value(expression)).doubleValue();
    }

    /**
     * Runs the body of an asynchronous JavaScript function, which gets its way to end as {@code done}.
     *
     * @return what it gave to {@code done}: a list of numbers
     */
    List<Double> numbers(String body) {
        Object result =
                requireNonNull(driver.executeAsyncScript("const done = arguments[arguments.length - 1];\n" + body));
        return ((List<?>) result)
                .stream()
                        .map(number -> ((Number) requireNonNull(number)).doubleValue())
                        .toList();
    }

    /** Presses a key where the focus is. */
    void press(Keys key) {
        driver.switchTo().activeElement().sendKeys(key);
    }

    /** The id of what has the focus; empty without one. */
    String focused() {
        return (String) value("document.activeElement.id");
    }

    WebElement element(String selector) {
        return driver.findElement(By.cssSelector(selector));
    }

    List<WebElement> elements(String selector) {
        return driver.findElements(By.cssSelector(selector));
    }

    /** Shows pages as a screen of this size would. */
    void screen(int width, int height, boolean phone) {
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", phone));
    }

    /** Takes back what {@link #screen} and {@link #prefer} did. */
    void reset() {
        driver.executeCdpCommand("Emulation.clearDeviceMetricsOverride", Map.of());
        driver.executeCdpCommand("Emulation.setEmulatedMedia", Map.of("features", List.of()));
    }

    /** Has the visitor prefer something, as a media query knows it. */
    void prefer(String feature, String value) {
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia", Map.of("features", List.of(Map.of("name", feature, "value", value))));
    }

    /** Warnings and errors on the console since this was last asked. */
    List<String> complaints() {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .map(Object::toString)
                .toList();
    }

    @Override
    public void close() {
        driver.quit();
    }
}
