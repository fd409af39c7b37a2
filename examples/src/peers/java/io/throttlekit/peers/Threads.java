package io.throttlekit.peers;

import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledExecutorService;

/** Threads for libraries that block. */
final class Threads {
    static final ScheduledExecutorService TIMER = Executors.newSingleThreadScheduledExecutor(task -> daemon(task));

    private Threads() {}

    /** Waits on a thread of its own, which is interrupted when the wait is cancelled. */
    static Future<?> waiting(Callable<?> wait) {
        FutureTask<?> task = new FutureTask<>(wait);
        daemon(task).start();
        return task;
    }

    static Thread daemon(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    }
}
