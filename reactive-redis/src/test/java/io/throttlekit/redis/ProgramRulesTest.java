package io.throttlekit.redis;

import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** The store keeps the rules of stores, by programs. */
class ProgramRulesTest extends Conformance.Rules {
    ProgramRulesTest() {
        super(Conformance.SERVER, true);
    }

    @Override
    protected OptionalLong writes() {
        return OptionalLong.of(Info.writes(Conformance.server()));
    }

    @Test
    void decidesAsTheVectorsSay() {
        Conformance.SERVER.passesAllVectors(true);
    }
}
