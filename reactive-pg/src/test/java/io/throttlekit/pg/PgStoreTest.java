package io.throttlekit.pg;

import io.throttlekit.Store;
import io.throttlekit.conformance.StoreConformance;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

/** The rules of every store, with strategies as functions of the server and without. */
class PgStoreTest {
    private static String database;

    /** A table whose rows are counted as they are written. */
    @BeforeAll
    static void createDatabase() {
        database = Postgres.SERVER.createDatabase();
        Postgres.SERVER.execute(
                database,
                Postgres.store(database).ddl(),
                "CREATE SEQUENCE writes",
                "CREATE FUNCTION count_write() RETURNS trigger LANGUAGE plpgsql AS"
                        + " $$ BEGIN PERFORM nextval('writes'); RETURN NULL; END $$",
                "CREATE TRIGGER count_write AFTER INSERT OR UPDATE OR DELETE ON throttlekit"
                        + " FOR EACH ROW EXECUTE FUNCTION count_write()");
    }

    private abstract static class Rules extends StoreConformance {
        @Override
        protected Store openBeside(Store first) {
            return open();
        }

        @Override
        protected OptionalLong writes() {
            return OptionalLong.of(Postgres.SERVER.number(
                    database, "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM writes"));
        }
    }

    @Nested
    class OnPrograms extends Rules {
        @Override
        protected Store open() {
            return Postgres.store(database).build();
        }
    }

    @Nested
    class OnFunctions extends Rules {
        @Override
        protected Store open() {
            return Postgres.store(database).prefix("functions").programs(false).build();
        }
    }
}
