package io.throttlekit;

import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;
import reactor.blockhound.BlockHound;

/** Turns BlockHound on before the first test runs. The other modules have theirs from the conformance kit. */
public final class BlockHoundListener implements LauncherSessionListener {

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        BlockHound.install();
    }
}
