package io.throttlekit.pg;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.throttlekit.Decision;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.StoreUnavailableException.Reason;
import io.throttlekit.conformance.PostgresServer;
import io.throttlekit.strategy.Gcra;
import io.throttlekit.strategy.SlidingWindow;
import io.vertx.pgclient.PgConnectOptions;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The table and the functions: made once, by whoever comes first, or not at all. */
class SchemaTest {
    private static final PostgresServer SERVER = Postgres.SERVER;
    private static final Gcra GCRA = Gcra.of(100, Duration.ofDays(1));

    private static List<String> functions(String database) {
        return SERVER.query(
                database,
                "SELECT n.nspname || '.' || proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace"
                        + " WHERE prolang = (SELECT oid FROM pg_language WHERE lanname = 'plpgsql') ORDER BY 1");
    }

    private static List<String> tables(String database) {
        return SERVER.query(
                database,
                "SELECT schemaname || '.' || tablename FROM pg_tables WHERE schemaname NOT IN"
                        + " ('pg_catalog', 'information_schema')");
    }

    /** A user who may log in and nothing else. */
    private static String user(String database, String... grants) {
        String user = "u" + UUID.randomUUID().toString().substring(0, 8);
        SERVER.execute(database, "CREATE USER " + user);
        for (String grant : grants) {
            SERVER.execute(database, "GRANT " + grant + " TO " + user);
        }
        return user;
    }

    private static PgStore.Builder storeOf(String database, String user) {
        return PgStore.builder(Postgres.VERTX, PgConnectOptions.fromUri(SERVER.uri(database, user)))
                .connections(1)
                .deadline(Duration.ofSeconds(10));
    }

    @Test
    void twentyNodesStartTogether() {
        String database = SERVER.createDatabase();
        List<PgStore> nodes = IntStream.range(0, 20)
                .mapToObj(i -> Postgres.store(database)
                        .deadline(Duration.ofSeconds(20))
                        .build())
                .toList();

        List<Decision> decisions = Postgres.get(Flux.fromIterable(nodes)
                .flatMap(node -> Flux.range(0, 10).flatMap(i -> node.apply("key" + i % 3, GCRA.check(1, 1))), 20)
                .collectList());

        assertThat(decisions).hasSize(200).allMatch(Decision::allowed);
        assertThat(tables(database)).containsExactly("public.throttlekit");
        assertThat(functions(database)).hasSize(3);
        Postgres.done(Mono.when(nodes.stream().map(PgStore::close).toList()));
        Postgres.await("nobody left", () -> Postgres.connections(SERVER, database) == 0);
    }

    @Test
    void aTableInAnotherSchemaWithOddCase() {
        String database = SERVER.createDatabase();
        PgStore store = Postgres.store(database).table("Limits.Of_Mine").build();

        assertThat(Postgres.get(store.apply("key", GCRA.check(1, 1))).remaining())
                .isEqualTo(99);
        assertThat(Postgres.get(store.apply("key2", new Counting()))).isEqualTo(1);
        Postgres.done(store.reset("key"));

        assertThat(Postgres.get(store.apply("key", GCRA.peek())).remaining()).isEqualTo(100);
        assertThat(tables(database)).containsExactly("Limits.Of_Mine");
        assertThat(functions(database)).hasSize(3).allMatch(name -> name.startsWith("Limits.Of_Mine_gcra_"));
        Postgres.done(store.close());
    }

    @Test
    void findsATableFurtherDownTheSearchPath() {
        String database = SERVER.createDatabase("search_path = first, public");
        SERVER.execute(
                database,
                "CREATE SCHEMA first",
                "SET search_path = public",
                Postgres.store(database).ddl());
        PgStore store = Postgres.store(database).createSchema(false).build();

        assertThat(Postgres.get(store.apply("key", GCRA.check(1, 1))).allowed()).isTrue();

        assertThat(tables(database)).containsExactly("public.throttlekit");
        Postgres.done(store.close());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "1a", "a-b", "a.b.c", "a;b", "\"a\"", "a b", ".a", "a.", "abcdefghijabcdefghijabcdefghijabc"
            })
    void refusesNamesThatAreNone(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Postgres.store("any").table(name))
                .withMessageContaining("\"" + name + "\"");
    }

    @Test
    void saysWhatIsMissingWhenItMayNotMakeIt() {
        String database = SERVER.createDatabase();
        PgStore off = Postgres.store(database).createSchema(false).build();
        PgStore forbidden = storeOf(database, user(database)).build();

        for (PgStore store : List.of(off, forbidden)) {
            assertThat(Postgres.error(store.apply("key", GCRA.check(1, 1))))
                    .isInstanceOfSatisfying(StoreUnavailableException.class, e -> {
                        assertThat(e.reason()).isEqualTo(Reason.SERVER);
                        assertThat(e.mayHaveCharged()).isFalse();
                        assertThat(e)
                                .hasMessageContaining("table public.throttlekit does not exist")
                                .hasMessageContaining("CREATE TABLE IF NOT EXISTS \"public\".\"throttlekit\"")
                                .hasMessageContaining("CREATE OR REPLACE FUNCTION \"public\".\"throttlekit_gcra_");
                    });
        }

        // As soon as someone made it, both go on.
        SERVER.execute(database, Postgres.store(database).ddl(), "GRANT ALL ON throttlekit TO public");
        for (PgStore store : List.of(off, forbidden)) {
            Postgres.await(
                    "it goes on",
                    () -> Boolean.TRUE.equals(store.apply("key", GCRA.check(1, 1))
                            .map(Decision::allowed)
                            .onErrorReturn(false)
                            .block()));
        }
        assertThat(functions(database)).hasSize(9);
        Postgres.done(Mono.when(off.close(), forbidden.close()));
    }

    @ParameterizedTest(name = "gcra{0}")
    @ValueSource(strings = {"", Ddl.ALLOW, Ddl.DENY})
    void makesAgainWhicheverFunctionIsGone(String ending) {
        String database = SERVER.createDatabase();
        PgStore store = Postgres.store(database).build();
        Gcra two = Gcra.of(2, Duration.ofDays(2));
        for (boolean allowed : new boolean[] {true, true, false}) {
            assertThat(Postgres.get(store.apply("key", two.check(1, 1))).allowed())
                    .isEqualTo(allowed);
        }
        List<String> functions = functions(database);
        String gone = functions.stream()
                .filter(name -> name.matches(".*_gcra_[0-9a-f]{8}" + ending))
                .findAny()
                .orElseThrow();
        SERVER.execute(database, "DROP FUNCTION " + gone);

        assertThat(Postgres.get(store.apply("key", two.check(1, 1))).allowed()).isFalse();
        assertThat(Postgres.get(store.apply("cold", two.check(1, 1))).allowed()).isTrue();

        assertThat(functions(database)).isEqualTo(functions);
        Postgres.done(store.close());
    }

    @Test
    void takesTheFunctionPathWhereFunctionsMayNotBeMade() {
        String database = SERVER.createDatabase();
        String table = Postgres.store(database).ddl().split(";", 2)[0];
        SERVER.execute(database, table, "GRANT ALL ON throttlekit TO public");
        PgStore store = storeOf(database, user(database)).build();

        assertThat(Postgres.get(store.apply("key", GCRA.check(1, 1))).remaining())
                .isEqualTo(99);
        assertThat(Postgres.get(store.apply("key", GCRA.check(1, 1))).remaining())
                .isEqualTo(98);
        SlidingWindow window = SlidingWindow.of(5, Duration.ofDays(1));
        assertThat(Postgres.get(store.apply("other", window.check(2, 2))).remaining())
                .isEqualTo(3);

        assertThat(functions(database)).isEmpty();
        assertThat(SERVER.query(database, "SELECT kind FROM throttlekit WHERE code IS NOT NULL ORDER BY 1"))
                .containsExactly("gcra()", "slidingWindow()");
        Postgres.done(store.close());
    }

    @Test
    void needsNoCharactersThatADatabaseMayNotHave() {
        String database = "ascii" + UUID.randomUUID().toString().substring(0, 8);
        SERVER.execute(
                "postgres", "CREATE DATABASE " + database + " TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'");
        PgStore store = Postgres.store(database).build();

        assertThat(Postgres.get(store.apply("k\u00e9y", GCRA.check(1, 1))).allowed())
                .isTrue();

        assertThat(Postgres.store(database).ddl().chars()).allMatch(c -> c < 128);
        Postgres.done(store.close());
    }

    /** After a change of a program or of the function around it, write what is expected here into the file. */
    @Test
    void theFileInTheJarIsTheDefaultSchema() throws IOException {
        try (InputStream in = PgStore.class.getResourceAsStream("schema.sql")) {
            assertThat(in).as("schema.sql").isNotNull();
            String file = new String(in.readAllBytes(), StandardCharsets.UTF_8);

            assertThat(file)
                    .isEqualTo(PgStore.builder("postgresql://any@localhost/any").ddl());
        }
    }

    @ParameterizedTest
    @EnumSource
    void durabilityIsWhatWasAsked(Durability durability) {
        String database = SERVER.createDatabase("synchronous_commit = off");
        PgStore store = Postgres.store(database).durability(durability).build();
        Postgres.get(store.apply("first", GCRA.check(1, 1)));
        SERVER.execute(
                database,
                "CREATE TABLE seen (what text)",
                "CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO seen VALUES"
                        + " (current_setting('synchronous_commit') || ', ' || current_setting('transaction_isolation'));"
                        + " RETURN NEW; END $$",
                "CREATE TRIGGER see BEFORE INSERT ON throttlekit FOR EACH ROW EXECUTE FUNCTION see()");

        Postgres.get(store.apply("second", GCRA.check(1, 1)));

        assertThat(SERVER.query(database, "SELECT what FROM seen"))
                .containsExactly((durability == Durability.DURABLE ? "on" : "off") + ", read committed");
        assertThat(SERVER.query(database, "SELECT relpersistence FROM pg_class WHERE relname = 'throttlekit'"))
                .containsExactly(durability == Durability.UNLOGGED ? "u" : "p");
        Postgres.done(store.close());
    }

    @Test
    void anUnloggedTableIsNotDurable() {
        String database = SERVER.createDatabase();
        SERVER.execute(
                database,
                Postgres.store(database).durability(Durability.UNLOGGED).ddl());
        PgStore store = Postgres.store(database).build();

        assertThat(Postgres.error(store.apply("key", GCRA.check(1, 1))))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("ALTER TABLE \"public\".\"throttlekit\" SET LOGGED");

        Postgres.done(store.close());
    }
}
