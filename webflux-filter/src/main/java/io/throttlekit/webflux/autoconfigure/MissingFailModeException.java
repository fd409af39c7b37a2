package io.throttlekit.webflux.autoconfigure;

/** The application has limits and does not say what becomes of requests when the store cannot decide. */
final class MissingFailModeException extends RuntimeException {
    MissingFailModeException() {
        super("throttlekit.fail-mode is missing");
    }
}
