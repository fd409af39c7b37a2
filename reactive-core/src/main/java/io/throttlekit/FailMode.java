package io.throttlekit;

/** What an adapter does with a request when the store cannot decide. There is no default: choose one. */
public enum FailMode {
    /** Let the request pass, unlimited, until the store answers again. */
    OPEN,
    /** Refuse the request with 503 until the store answers again. */
    CLOSED
}
