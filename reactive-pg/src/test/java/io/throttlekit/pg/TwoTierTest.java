package io.throttlekit.pg;

import io.throttlekit.Store;
import io.throttlekit.conformance.TwoTierConformance;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Leased limiters over PostgreSQL, on PostgreSQL's clock. */
class TwoTierTest extends TwoTierConformance {
    private static PgStore store;

    @BeforeAll
    static void open() {
        store = Postgres.store(Postgres.SERVER.createDatabase())
                .durability(Durability.ASYNC_COMMIT)
                .build();
    }

    @AfterAll
    static void close() {
        Postgres.done(store.close());
    }

    @Override
    protected Store store() {
        return store;
    }
}
