package javax.annotation;

/** A stand-in: the annotation is in a module of its own, which is not here. */
public @interface Generated {
    String[] value();

    String comments() default "";
}
