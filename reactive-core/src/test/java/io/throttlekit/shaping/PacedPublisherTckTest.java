package io.throttlekit.shaping;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.testng.ITestResult;
import org.testng.TestListenerAdapter;
import org.testng.TestNG;

/** Runs the kit by itself, since beside Jupiter tests of TestNG are easily not run without anybody noticing. */
class PacedPublisherTckTest {
    /** The rules of the kit, once for each kind of paced source. */
    private static final int RULES = 38;

    private static final int KINDS = 3;

    @Test
    void passesTheReactiveStreamsTck() {
        TestListenerAdapter results = new TestListenerAdapter();
        TestNG kit = new TestNG(false);
        kit.setVerbose(0);
        kit.setTestClasses(new Class<?>[] {PacedPublisherVerification.class});
        kit.addListener(results);

        kit.run();

        assertThat(results.getFailedTests()).isEmpty();
        assertThat(results.getPassedTests().size() + results.getSkippedTests().size())
                .isEqualTo(RULES * KINDS);
        assertThat(results.getSkippedTests())
                .extracting(ITestResult::getName)
                .allMatch(name -> name.startsWith("untested_") || name.startsWith("optional_"))
                .hasSizeLessThanOrEqualTo(9 * KINDS);
    }
}
