package io.throttlekit.webflux;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Puts the requests of a controller's method, or of all its methods, under limits by name. On a method it
 * replaces that of the class.
 *
 * <p>A limit takes part with {@code when(RateLimitedHandlers.named("name"))}, or with Spring Boot as
 * {@code throttlekit.limits.name}.
 */
@Documented
@Inherited
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
public @interface RateLimited {
    /**
     * The names of the limits.
     *
     * @return at least one; an empty list on a method takes it out of those of the class
     */
    String[] value();
}
