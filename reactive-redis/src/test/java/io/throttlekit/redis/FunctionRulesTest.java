package io.throttlekit.redis;

import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** The store keeps the rules of stores, by functions. */
class FunctionRulesTest extends Conformance.Rules {
    FunctionRulesTest() {
        super(Conformance.SERVER, false);
    }

    @Override
    protected OptionalLong writes() {
        return OptionalLong.of(Info.writes(Conformance.server()));
    }

    @Test
    void decidesAsTheVectorsSay() {
        Conformance.SERVER.passesAllVectors(false);
    }
}
