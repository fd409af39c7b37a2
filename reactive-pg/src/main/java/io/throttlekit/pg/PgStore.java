package io.throttlekit.pg;

import io.throttlekit.Clock;
import io.throttlekit.Program;
import io.throttlekit.StateMismatchException;
import io.throttlekit.Store;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.Transform;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.internal.VertxInternal;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.pgclient.PgConnection;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * Keeps keys in a table of a PostgreSQL database, so that all nodes that reach it share one limit.
 *
 * <pre>{@code
 * PgStore store = PgStore.connect("postgresql://app:secret@db.example.com:5432/app");
 * Limiter limiter = Limiter.builder(Gcra.of(100, Duration.ofMinutes(1))).store(store).build();
 * }</pre>
 *
 * <p><b>Checks.</b> A strategy of this library is a function that the store installs in the database. A check is
 * one prepared statement and one round trip; one that denies, and a look, takes no lock and writes nothing. It is a
 * transaction of its own, unless many calls of this store want the same key at once: what comes while others are out
 * on that key goes together when they are back, up to 32 statements in one transaction, so that a hot key does not wait
 * for the disk at every check ({@link Builder#shareCommits}). An error of one of them rolls back all, and each is tried
 * again alone. Any other strategy runs in this process, inside a transaction of two round trips. Either way the
 * server's clock decides, unless the store was given one.
 *
 * <p><b>Threads.</b> A {@code Mono} signals on the event loop of one of the store's connections, or on the
 * subscriber's thread where no connection was needed to know the answer. That loop serves many keys:
 * {@code publishOn} before anything that takes long. A custom strategy's function runs there too.
 *
 * <p><b>Connections.</b> Each of a few connections has its share of the keys, by a hash, and sends statements without
 * waiting for earlier ones. A wait for one row, such as a hot key's, holds up that share only. They are made when
 * they are first needed, and again when they break. One of the nodes has one more, which deletes expired rows.
 *
 * <p><b>Errors.</b> {@link StoreUnavailableException} with its reason: {@code TIMEOUT} after the deadline,
 * {@code OVERLOADED} at once when too many calls are in flight, {@code DISCONNECTED}, {@code CLOSED}, and
 * {@code SERVER} for what PostgreSQL refuses, a read-only server among it. Nothing is sent again whose fate is unknown.
 * {@link StateMismatchException} when a key holds what another strategy, or the other path, wrote.
 *
 * <p><b>Keys.</b> Stored as bytes, {@code prefix:key}; longer ones than 512 bytes by their hash. Stores with
 * different prefixes or tables share nothing.
 *
 * <p><b>Schema.</b> One table, {@code throttlekit} unless named otherwise, and one to three functions per strategy that is used.
 * They are made on first use where that is allowed. {@link Builder#ddl()} has the statements for those who prefer to
 * run them themselves, as has the file {@code io/throttlekit/pg/schema.sql} for the default table.
 */
public final class PgStore implements Store {
    /*
     * A connection per statement, as the client's pool takes, costs a wait for each; one that pipelines serves
     * hundreds of calls. But what waits for a row holds back everything behind it on the same connection. So there are
     * several, and a key always takes the same one: then two calls of this process never wait for each other in the
     * database, those on a hot key can share transactions (Turns), and the transactions of the function path form their
     * queue in front of it.
     *
     * A few connections share an event loop: it can serve all the calls that the server can answer on them, and loops that
     * wake each other up for every call cost more than the calls.
     *
     * The deadline counts from the subscription and covers all waiting. What a call has sent is its fate: before
     * that nothing can have been charged, after it the answer is "may have been" until the server says what became
     * of it. An error that the server reports means that the statement was rolled back.
     */
    private static final int LANES_PER_LOOP = 8;

    private final @Nullable Vertx owned;
    private final Settings settings;
    private final Keys keys;
    private final Routes routes;
    private final List<Lane> lanes;
    private final Sweeper sweeper;
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicReference<@Nullable Promise<Void>> closing = new AtomicReference<>();

    private PgStore(Vertx vertx, boolean owned, Source source, Settings settings) {
        this.owned = owned ? vertx : null;
        this.settings = settings;
        this.keys = new Keys(settings.prefix());
        Schema schema = new Schema(settings);
        this.routes = new Routes(settings, schema);
        // A context of its own for each, and not the caller's: a store may outlive the verticle that made it.
        VertxInternal internal = (VertxInternal) vertx;
        this.sweeper = new Sweeper(vertx, internal.createEventLoopContext(), source, settings, schema);
        this.lanes = new ArrayList<>();
        Context loop = internal.createEventLoopContext();
        for (int i = 0; i < settings.connections(); i++) {
            if (i > 0 && i % LANES_PER_LOOP == 0) {
                loop = internal.createEventLoopContext();
            }
            lanes.add(new Lane(vertx, loop, source, settings, schema, sweeper::start));
        }
    }

    /**
     * A store with the default options, which has its connections and its Vert.x to itself.
     *
     * @param uri such as {@code postgresql://user:password@host:5432/database}
     * @return a new store, which connects when it is first used
     * @throws IllegalArgumentException if the address cannot be read
     */
    public static PgStore connect(String uri) {
        return builder(uri).build();
    }

    /**
     * Options for a store that has its connections and its Vert.x to itself. Closing it ends both.
     *
     * @param uri such as {@code postgresql://user:password@host:5432/database}
     * @return a new builder
     * @throws IllegalArgumentException if the address cannot be read
     */
    public static Builder builder(String uri) {
        PgConnectOptions options = parsed(Objects.requireNonNull(uri, "uri"));
        return new Builder(null, vertx -> new Direct(vertx, options));
    }

    private static PgConnectOptions parsed(String uri) {
        try {
            return PgConnectOptions.fromUri(uri);
        } catch (RuntimeException e) {
            // Its message quotes the address, which may hold a password; so it is not the cause either.
            throw new IllegalArgumentException("uri must be postgresql://user:password@host:port/database");
        }
    }

    /**
     * Options for a store that has its connections to itself, on the event loops of a Vert.x that it leaves running.
     *
     * @param vertx whose event loops to use
     * @param options how to connect; copied. The store caches prepared statements and reconnects by itself,
     *     whatever they say of that
     * @return a new builder
     */
    public static Builder builder(Vertx vertx, PgConnectOptions options) {
        PgConnectOptions copy = new PgConnectOptions(options);
        Objects.requireNonNull(vertx, "vertx");
        return new Builder(vertx, any -> new Direct(vertx, copy));
    }

    /**
     * Options for a store on connections of a pool that the application has already.
     *
     * <p>The store takes {@link Builder#connections} of them when it is first used, and one more while it is this
     * node that deletes expired rows, and keeps them until it is closed: so the pool's size must allow for that
     * beside what the application needs. It sets parameters of their sessions and resets them when it gives them
     * back. How they are made is the pool's affair: statements are prepared once per connection only if its
     * options cache prepared statements, and are sent without waiting only as far as its pipelining limit goes. A
     * proxy that gives sessions to others between transactions will not do. The pool stays open.
     *
     * @param vertx the Vert.x of the pool
     * @param pool a pool of the PostgreSQL client
     * @return a new builder
     */
    public static Builder builder(Vertx vertx, Pool pool) {
        Objects.requireNonNull(vertx, "vertx");
        Objects.requireNonNull(pool, "pool");
        return new Builder(vertx, any -> new Borrowed(pool));
    }

    @Override
    public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(transform, "transform");
        return Mono.create(sink -> begin(key, sink, () -> work(transform)));
    }

    @Override
    public Mono<Void> reset(String key) {
        Objects.requireNonNull(key, "key");
        return Mono.create(sink -> begin(key, sink, ResetWork::new));
    }

    private <S, R> Call.Work<R> work(Transform<S, R> transform) {
        Program<R> program = settings.programs() ? transform.program() : null;
        if (program == null) {
            return new FunctionWork<>(settings, transform);
        }
        Clock clock = settings.clock();
        Long now = clock == null ? null : clock.epochMicros();
        long client = now == null ? System.currentTimeMillis() * 1000 : now;
        return new ProgramWork<>(routes, settings, transform, program, now, client);
    }

    private <R> void begin(String key, MonoSink<R> sink, Supplier<Call.Work<R>> work) {
        long deadline = System.nanoTime() + settings.deadlineNanos();
        if (closing.get() != null) {
            sink.error(Faults.closed(false));
            return;
        }
        Call.Work<R> todo = work.get();
        if (inFlight.incrementAndGet() > settings.maxInFlight()) {
            inFlight.decrementAndGet();
            sink.error(Faults.overloaded(settings.maxInFlight()));
            return;
        }
        byte[] bytes = keys.bytes(key);
        Lane lane = lanes.get((int) Math.floorMod(Keys.hash(0, bytes), (long) lanes.size()));
        lane.submit(new Call<>(lane, inFlight, bytes, deadline, sink, todo));
    }

    /**
     * Ends the connections, and the Vert.x that the store made. Calls that are in flight fail with reason
     * {@code CLOSED}, which tells whether they may have charged.
     */
    @Override
    public Mono<Void> close() {
        return Mono.create(sink -> closeOnce().onComplete(closed -> sink.success()));
    }

    private Future<Void> closeOnce() {
        Promise<Void> promise = Promise.promise();
        Promise<Void> earlier = closing.compareAndExchange(null, promise);
        if (earlier != null) {
            return earlier.future();
        }
        List<Future<Void>> parts = new ArrayList<>(List.of(sweeper.close()));
        lanes.forEach(lane -> parts.add(lane.close()));
        Vertx vertx = owned;
        Future.join(parts)
                .eventually(() -> vertx == null ? Future.succeededFuture() : vertx.close())
                .onComplete(done -> promise.complete());
        return promise.future();
    }

    /** Connections of the store's own. */
    private static final class Direct implements Source {
        private final Vertx vertx;
        private final PgConnectOptions options;

        Direct(Vertx vertx, PgConnectOptions options) {
            this.vertx = vertx;
            this.options = new PgConnectOptions(options)
                    .setCachePreparedStatements(true)
                    .setPipeliningLimit(2 * Lane.WINDOW)
                    .setReconnectAttempts(0);
        }

        @Override
        public Future<SqlConnection> open() {
            return PgConnection.connect(vertx, options).map(connection -> connection);
        }

        @Override
        public Future<Void> giveUp(SqlConnection connection) {
            return connection.close();
        }
    }

    /** Connections of the application's pool. */
    private record Borrowed(Pool pool) implements Source {
        @Override
        public Future<SqlConnection> open() {
            return pool.getConnection();
        }

        @Override
        public Future<Void> giveUp(SqlConnection connection) {
            return connection
                    .query(Settings.endOfSession() + "; SELECT pg_advisory_unlock_all()")
                    .execute()
                    .eventually(connection::close)
                    .mapEmpty();
        }
    }

    /** The options of a store. Not safe for use by several threads. */
    public static final class Builder {
        private static final int MOST_CONNECTIONS = 256;

        private final @Nullable Vertx vertx;
        private final Function<Vertx, Source> source;
        private TableName table = new TableName(null, "throttlekit");
        private String prefix = "throttlekit";
        private Duration deadline = Duration.ofMillis(500);
        private int connections = 4;
        private int maxInFlight = 4096;
        private boolean programs = true;
        private boolean shareCommits = true;
        private Durability durability = Durability.DURABLE;
        private boolean createSchema = true;
        private Duration sweepInterval = Duration.ofSeconds(60);
        private int sweepBatch = 1000;
        private @Nullable Clock clock;

        private Builder(@Nullable Vertx vertx, Function<Vertx, Source> source) {
            this.vertx = vertx;
            this.source = source;
        }

        /**
         * The table, {@code throttlekit} by default, in the first schema of the search path that has it, or the
         * first one.
         *
         * @param table a name of at most 32 letters, digits and underscores, or a schema and a name with a dot
         *     between. It is quoted: upper case stays upper case
         * @return this
         * @throws IllegalArgumentException if it is no such name
         */
        public Builder table(String table) {
            this.table = TableName.parse(table);
            return this;
        }

        /**
         * What every key is stored under, {@code throttlekit} by default.
         *
         * @param prefix letters, digits, {@code _}, {@code .} and {@code -}. Empty stores bare keys, which are not
         *     separated from keys of stores with a prefix
         * @return this
         * @throws IllegalArgumentException if it has other characters
         */
        public Builder prefix(String prefix) {
            if (!prefix.matches("[A-Za-z0-9_.-]*")) {
                throw new IllegalArgumentException("prefix must match [A-Za-z0-9_.-]*, was \"" + prefix + "\"");
            }
            this.prefix = prefix;
            return this;
        }

        /**
         * How long a call may take from its subscription, all waiting included; 500 ms by default. The server gives a
         * statement up after the same time.
         *
         * @param deadline 1 ms to 1 hour
         * @return this
         * @throws IllegalArgumentException if it is out of range
         */
        public Builder deadline(Duration deadline) {
            if (deadline.compareTo(Duration.ofMillis(1)) < 0 || deadline.compareTo(Duration.ofHours(1)) > 0) {
                throw new IllegalArgumentException("deadline must be from 1 ms to 1 h, was " + deadline);
            }
            this.deadline = deadline;
            return this;
        }

        /**
         * How many connections, 4 by default. With {@link Durability#DURABLE}, each can have one allow flushed at a
         * time.
         *
         * @param connections 1 to 256
         * @return this
         * @throws IllegalArgumentException if it is out of range
         */
        public Builder connections(int connections) {
            this.connections = within("connections", connections, MOST_CONNECTIONS);
            return this;
        }

        /**
         * How many calls may be in flight at once, 4096 by default; further ones fail at once.
         *
         * @param maxInFlight at least 1
         * @return this
         * @throws IllegalArgumentException if it is below 1
         */
        public Builder maxInFlight(int maxInFlight) {
            this.maxInFlight = within("maxInFlight", maxInFlight, Integer.MAX_VALUE);
            return this;
        }

        /**
         * Whether strategies run as functions of the server, as they do by default. Off, all of them run in this
         * process, inside transactions; the decisions are the same. A key must not be used both ways.
         *
         * @param programs false for transactions
         * @return this
         */
        public Builder programs(boolean programs) {
            this.programs = programs;
            return this;
        }

        /**
         * Whether calls on one key that wait for each other may share a transaction, and with it the wait for the disk,
         * as they do by default: a statement each, at most 32 in one transaction, each decided by itself. What the
         * server refuses rolls all of them back, and each goes again alone. Off, every call is a transaction of its own,
         * and a key that many want gets no more allows than its row gets commits. Calls on different keys never share.
         *
         * @param shareCommits false for a transaction per call
         * @return this
         */
        public Builder shareCommits(boolean shareCommits) {
            this.shareCommits = shareCommits;
            return this;
        }

        /**
         * What a crash of the server may lose, nothing by default.
         *
         * @param durability the choice; {@code UNLOGGED} takes effect when the table is made
         * @return this
         */
        public Builder durability(Durability durability) {
            this.durability = Objects.requireNonNull(durability, "durability");
            return this;
        }

        /**
         * Whether the store may make its table and functions, as it does by default. Off, a missing table is an
         * error that has the statements in its message, and a missing function means that its strategy runs in this
         * process.
         *
         * @param createSchema false to leave that to an administrator
         * @return this
         */
        public Builder createSchema(boolean createSchema) {
            this.createSchema = createSchema;
            return this;
        }

        /**
         * How often expired rows are deleted, 60 s by default, by one of the nodes. An expired row is as good as
         * none at once.
         *
         * @param sweepInterval zero for never
         * @return this
         * @throws IllegalArgumentException if it is negative
         */
        public Builder sweepInterval(Duration sweepInterval) {
            if (sweepInterval.isNegative()) {
                throw new IllegalArgumentException("sweepInterval must be zero or more, was " + sweepInterval);
            }
            this.sweepInterval = sweepInterval;
            return this;
        }

        /**
         * How many rows one statement deletes at most, 1000 by default.
         *
         * @param sweepBatch at least 1
         * @return this
         * @throws IllegalArgumentException if it is below 1
         */
        public Builder sweepBatch(int sweepBatch) {
            this.sweepBatch = within("sweepBatch", sweepBatch, Integer.MAX_VALUE);
            return this;
        }

        /**
         * Another clock than the server's, to replay recorded traffic. Rows are then kept for at least an hour of the
         * server's time, whatever this clock says.
         *
         * @param clock asked once per call, on the subscriber's thread or on an event loop
         * @return this
         */
        public Builder clock(Clock clock) {
            this.clock = Objects.requireNonNull(clock, "clock");
            return this;
        }

        /**
         * The statements that make the table and the functions of this library's strategies, as these options name
         * them. Reads files: not to be called on an event loop.
         *
         * @return SQL, one statement after the other, each with its semicolon
         */
        public String ddl() {
            return Ddl.everything(table, durability);
        }

        /**
         * Makes the store. It connects when it is first used.
         *
         * @return a new store
         */
        public PgStore build() {
            Vertx own = vertx == null ? ownVertx() : vertx;
            return new PgStore(own, vertx == null, source.apply(own), settings());
        }

        private Settings settings() {
            return new Settings(
                    table,
                    prefix,
                    deadline,
                    connections,
                    maxInFlight,
                    programs,
                    shareCommits,
                    durability,
                    createSchema,
                    sweepInterval,
                    sweepBatch,
                    clock);
        }

        private Vertx ownVertx() {
            return Vertx.vertx(new VertxOptions()
                    .setEventLoopPoolSize(1 + (connections - 1) / LANES_PER_LOOP)
                    .setUseDaemonThread(true));
        }

        private static int within(String name, int value, int most) {
            if (value < 1 || value > most) {
                throw new IllegalArgumentException(name + " must be from 1 to " + most + ", was " + value);
            }
            return value;
        }
    }
}
