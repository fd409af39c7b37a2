package io.throttlekit.conformance;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder.request;

import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs a suite as JUnit would, to see which of its numbered rules fail. */
final class Launch implements TestExecutionListener {
    private static final Pattern RULE = Pattern.compile("(?:Rule|Law) (\\d+):.*", Pattern.DOTALL);

    private final Set<Integer> failed = new TreeSet<>();
    private final Set<Integer> passed = new TreeSet<>();
    private TestPlan plan;

    private Launch(TestPlan plan) {
        this.plan = plan;
    }

    /**
     * What a suite came to.
     *
     * @param rules numbers of the rules that were tried
     * @param failed those of which a test failed
     */
    record Outcome(Set<Integer> rules, Set<Integer> failed) {}

    static Outcome of(Class<?> suite) {
        LauncherConfig alone = LauncherConfig.builder()
                .enableLauncherSessionListenerAutoRegistration(false)
                .enableTestExecutionListenerAutoRegistration(false)
                .build();
        var launcher = LauncherFactory.create(alone);
        TestPlan plan =
                launcher.discover(request().selectors(selectClass(suite)).build());
        Launch listener = new Launch(plan);
        launcher.execute(plan, listener);
        Set<Integer> rules = new TreeSet<>(listener.passed);
        rules.addAll(listener.failed);
        return new Outcome(rules, listener.failed);
    }

    @Override
    public void testPlanExecutionStarted(TestPlan started) {
        plan = started;
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        boolean ok = result.getStatus() == Status.SUCCESSFUL;
        if (test.isTest() || !ok) {
            (ok ? passed : failed).add(ruleOf(test));
        }
    }

    private int ruleOf(TestIdentifier test) {
        TestIdentifier at = test;
        while (true) {
            Matcher matcher = RULE.matcher(at.getDisplayName());
            if (matcher.matches()) {
                return Integer.parseInt(matcher.group(1));
            }
            at = plan.getParent(at).orElseThrow(() -> new AssertionError(test + " belongs to no rule"));
        }
    }
}
