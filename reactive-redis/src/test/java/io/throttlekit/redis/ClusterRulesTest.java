package io.throttlekit.redis;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The store keeps the rules of stores on a cluster of three masters. */
class ClusterRulesTest extends Conformance.Rules {
    ClusterRulesTest() {
        super(Conformance.CLUSTER, true);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void decidesAsTheVectorsSay(boolean programs) {
        Conformance.CLUSTER.passesAllVectors(programs);
    }
}
