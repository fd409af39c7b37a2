package io.throttlekit.conformance;

import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;
import reactor.blockhound.BlockHound;

/**
 * Turns BlockHound on before the first test runs, and counts the event loops of Vert.x among the threads that must
 * not block.
 *
 * <p>A module switches it on by naming this class in {@code
 * META-INF/services/org.junit.platform.launcher.LauncherSessionListener} of its test resources. It needs BlockHound
 * and the JUnit launcher on the class path of the tests, and {@code -XX:+AllowRedefinitionToAddDeleteMethods} on the
 * command line of their JVM.
 */
public final class BlockHoundListener implements LauncherSessionListener {

    /** Called by JUnit, through the service loader. */
    public BlockHoundListener() {}

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        BlockHound.install(builder -> builder.nonBlockingThreadPredicate(
                        known -> known.or(thread -> thread.getName().startsWith("vert.x-eventloop")))
                // When Vert.x closes, an event loop takes the lock of the worker pool's queue to empty it.
                .allowBlockingCallsInside("io.vertx.core.internal.WorkerPool", "close")
                // Event loops that meet in Netty's allocator wait for each other for a moment.
                .allowBlockingCallsInside("io.netty.buffer.AdaptivePoolingAllocator", "allocate")
                // Netty sets TLS up on the event loop, which takes random bytes from a file that never waits.
                .allowBlockingCallsInside("java.security.SecureRandom", "nextBytes"));
    }
}
