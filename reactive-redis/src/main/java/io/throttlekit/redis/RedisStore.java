package io.throttlekit.redis;

import io.throttlekit.Clock;
import io.throttlekit.Store;
import io.throttlekit.StoreUnavailableException;
import io.throttlekit.Transform;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.net.TrustOptions;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisClientType;
import io.vertx.redis.client.RedisCluster;
import io.vertx.redis.client.RedisClusterTransactions;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.RedisReplicas;
import java.net.URI;
import java.net.URISyntaxException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A store on Redis 6.2 or later, or Valkey, through the Vert.x Redis client: standalone, Cluster or Sentinel.
 *
 * <pre>{@code
 * RedisStore store = RedisStore.connect("redis://localhost");
 * Limiter limiter = Limiter.builder(Gcra.of(100, Duration.ofMinutes(1))).store(store).build();
 * }</pre>
 *
 * <p>A built-in strategy decides in one EVALSHA, by the server's clock. Any other strategy runs here, between a
 * WATCH and an EXEC; a key that other processes change at the same moment makes that start over, a bounded
 * number of times. Every key has a time to live.
 *
 * <p><b>Time.</b> A call has a deadline, counted from its request and covering the wait for a connection. The
 * store connects by itself and again after a failure; a call that finds it disconnected makes it try. A
 * call that was sent is never sent a second time unless Redis said that it did nothing.
 *
 * <p><b>Threads.</b> A {@code Mono} signals on the event loop of its connection; one that is refused at once, on the
 * thread that requested. Do not block there: {@code publishOn} first. Cancelling takes effect for a command that was not sent yet; one that was sent
 * may charge.
 *
 * <p><b>Errors.</b> {@link StoreUnavailableException}, whose {@code mayHaveCharged} is true only for a command
 * that was written and not answered; {@link io.throttlekit.StateMismatchException} where a key holds something
 * else. Neither names keys or secrets.
 *
 * <p><b>Keys.</b> {@code prefix:key}, in UTF-8, with <code>{</code>, <code>}</code> and {@code %}
 * percent-encoded, so that a key cannot choose its cluster slot. A stored key of more than 512 bytes becomes
 * {@code prefix:%h} and the hex digits of its SHA-256.
 */
public final class RedisStore implements Store {
    private static final Pattern DATABASE = Pattern.compile("/?|/\\d+");

    /*
     * Why a few pipelined connections and not a pool: the client's pool hands a connection to one command at a
     * time, which is a round trip each; beyond its size commands wait, and beyond that they fail. One pipelined
     * connection carries all the commands that Redis can execute. A few are there to use more than one core
     * of this side. A key always goes the same way, so the function path can queue its contenders without a lock.
     *
     * Each connection with all that belongs to it is a Lane, confined to one event loop. A call is handed to its
     * lane through a queue and is touched by nobody else, but for a cancellation, which is one volatile write.
     *
     * Fates: a call is WAITING until its command is given to the client and SENT from then on. Only an answer that
     * says that nothing was done (no such script, read-only replica) makes it WAITING again. So a timeout of a
     * waiting call certainly charged nothing, and one of a sent call may have.
     */
    private final Core core;
    private final StoredKeys keys;
    private final Programs programs = new Programs();
    private final boolean usesPrograms;
    private final Lane[] lanes;
    private final List<ContextInternal> contexts;
    private final @Nullable Vertx owned;
    private final AtomicReference<@Nullable Future<Void>> ending = new AtomicReference<>();

    private RedisStore(Builder builder) {
        boolean owns = builder.vertx == null;
        Vertx vertx = owns ? ownVertx(builder.connections) : Objects.requireNonNull(builder.vertx);
        this.owned = owns ? vertx : null;
        this.core = new Core(builder.deadline.toNanos(), builder.maxInFlight, builder.maxRetries, builder.clock);
        this.keys = new StoredKeys(builder.prefix);
        this.usesPrograms = builder.programs;
        this.contexts = new ArrayList<>();
        this.lanes = new Lane[builder.connections];
        for (int i = 0; i < lanes.length; i++) {
            ContextInternal context = ((VertxInternal) vertx).createEventLoopContext();
            contexts.add(context);
            lanes[i] = new Lane(core, context, builder.connector(vertx), builder.transactionalConnector(vertx));
            lanes[i].open();
        }
    }

    private static Vertx ownVertx(int eventLoops) {
        return Vertx.vertx(new VertxOptions()
                .setEventLoopPoolSize(eventLoops)
                .setWorkerPoolSize(1)
                .setInternalBlockingPoolSize(1)
                .setUseDaemonThread(true)
                .setFileSystemOptions(
                        new FileSystemOptions().setFileCachingEnabled(false).setClassPathResolvingEnabled(false)));
    }

    /**
     * A store with default options and event loops of its own.
     *
     * <p>Returns at once; the connection comes in the background, and a call waits for it within its deadline.
     *
     * @param uri {@code redis://[[user]:password@]host[:port][/database]}, {@code rediss://…} for TLS, verified by
     *     the certificates that Java trusts, or {@code unix:///path/to/socket}
     * @return a new store, to be closed
     * @throws IllegalArgumentException if the address is none of these
     */
    public static RedisStore connect(String uri) {
        return builder(uri).build();
    }

    /**
     * The options of a store with event loops of its own, one per connection.
     *
     * @param uri as for {@link #connect}
     * @return a new builder
     * @throws IllegalArgumentException if the address is none of those
     */
    public static Builder builder(String uri) {
        return new Builder(null, null, optionsOf(uri));
    }

    /**
     * The options of a store on the event loops of a Vert.x that the store does not close.
     *
     * @param vertx whose event loops to use
     * @param options where to connect and how; copied
     * @return a new builder
     */
    public static Builder builder(Vertx vertx, RedisOptions options) {
        return new Builder(
                Objects.requireNonNull(vertx, "vertx"),
                null,
                new RedisOptions(Objects.requireNonNull(options, "options")));
    }

    /**
     * The options of a store over a Redis client that the store does not close.
     *
     * <p>Its pool must have room for three connections per connection of the store. It writes each command on its
     * own, so this is slower under load than {@link #builder(Vertx, RedisOptions)}. On a cluster, strategies
     * without a program need {@link RedisClusterTransactions#SINGLE_NODE}.
     *
     * @param vertx the Vert.x that the client was made with
     * @param redis the client
     * @return a new builder
     */
    public static Builder builder(Vertx vertx, Redis redis) {
        return new Builder(
                Objects.requireNonNull(vertx, "vertx"), Objects.requireNonNull(redis, "redis"), new RedisOptions());
    }

    private static RedisOptions optionsOf(String uri) {
        URI parsed;
        try {
            parsed = new URI(Objects.requireNonNull(uri, "uri"));
        } catch (URISyntaxException e) {
            // Its message quotes the address, which may hold a password.
            throw new IllegalArgumentException("uri must be a URI, has an error at index " + e.getIndex());
        }
        String scheme = String.valueOf(parsed.getScheme());
        boolean local = scheme.equals("unix");
        if (!local && !scheme.equals("redis") && !scheme.equals("rediss")) {
            throw new IllegalArgumentException("uri must be redis://, rediss:// or unix://, was " + scheme + ":");
        }
        if (local ? parsed.getPath() == null || parsed.getPath().length() < 2 : parsed.getHost() == null) {
            throw new IllegalArgumentException("uri must have a " + (local ? "path" : "host"));
        }
        if (parsed.getPort() > 65_535 || parsed.getPort() == 0) {
            throw new IllegalArgumentException("uri must have a port from 1 to 65535, has " + parsed.getPort());
        }
        if (!local && !DATABASE.matcher(parsed.getPath()).matches()) {
            throw new IllegalArgumentException("uri must have the number of a database for its path, or none");
        }
        RedisOptions options = new RedisOptions().setConnectionString(uri);
        if (scheme.equals("rediss")) {
            options.setNetClientOptions(new NetClientOptions()
                    .setSsl(true)
                    .setHostnameVerificationAlgorithm("HTTPS")
                    .setTrustOptions(TrustOptions.wrap(trustOfJava())));
        }
        return options;
    }

    /** Java reads its certificates from a file, and would do so on the event loop. */
    private static TrustManager trustOfJava() {
        try {
            TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init((KeyStore) null);
            return factory.getTrustManagers()[0];
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("Java's certificates cannot be read", e);
        }
    }

    @Override
    public <S, R> Mono<R> apply(String key, Transform<S, R> transform) {
        byte[] stored = keys.of(key);
        Lane lane = laneOf(key);
        Objects.requireNonNull(transform, "transform");
        Prepared<R> program = usesPrograms ? programs.of(transform) : null;
        return program == null
                ? CallMono.of(actual -> new FunctionCall<>(core, lane, stored, actual, transform))
                : CallMono.of(actual -> new ProgramCall<>(core, lane, stored, actual, program));
    }

    @Override
    public Mono<Void> reset(String key) {
        byte[] stored = keys.of(key);
        Lane lane = laneOf(key);
        return CallMono.of(actual -> new ResetCall(core, lane, stored, actual));
    }

    private Lane laneOf(String key) {
        if (lanes.length == 1) {
            return lanes[0];
        }
        int hash = key.hashCode() * 0x9E3779B9;
        return lanes[(hash >>> 16) % lanes.length];
    }

    /**
     * Ends the connections, and the event loops if they are the store's own. Calls on their way fail with
     * {@code CLOSED}.
     *
     * @return completes when everything is released
     */
    @Override
    public Mono<Void> close() {
        return Mono.create(sink -> closed().onComplete((done, failure) -> sink.success()));
    }

    private Future<Void> closed() {
        Promise<Void> promise = Promise.promise();
        if (!ending.compareAndSet(null, promise.future())) {
            return Objects.requireNonNull(ending.get());
        }
        core.close();
        List<Future<Void>> ends = new ArrayList<>();
        for (int i = 0; i < lanes.length; i++) {
            Lane lane = lanes[i];
            Promise<Void> end = Promise.promise();
            ends.add(end.future());
            try {
                contexts.get(i).emit(v -> lane.close().onComplete(end));
            } catch (RejectedExecutionException e) {
                // The event loops were closed before; nothing of ours is left there.
                end.complete();
            }
        }
        Future.join(ends)
                .transform(done -> owned == null ? Future.<Void>succeededFuture() : owned.close())
                .onComplete((done, failure) -> promise.complete());
        return promise.future();
    }

    @Override
    public String toString() {
        return "RedisStore[" + lanes.length + " connections, " + core.inFlight() + " calls in flight]";
    }

    /** The options of a {@link RedisStore}. */
    public static final class Builder {
        private static final Pattern PREFIX = Pattern.compile("[A-Za-z0-9_.-]*");
        private static final int MAX_DEFAULT_CONNECTIONS = 4;
        /** Commands beyond the store's own bound: those that timed out and await a late reply. */
        private static final int SPARE_HANDLERS = 1_024;

        private final @Nullable Vertx vertx;
        private final @Nullable Redis redis;
        private final RedisOptions options;
        private String prefix = "throttlekit";
        private Duration deadline = Duration.ofMillis(250);
        private int connections = Math.max(
                1, Math.min(MAX_DEFAULT_CONNECTIONS, Runtime.getRuntime().availableProcessors() / 2));
        private int maxInFlight = 10_000;
        private int maxRetries = 3;
        private boolean programs = true;
        private @Nullable Clock clock;

        private Builder(@Nullable Vertx vertx, @Nullable Redis redis, RedisOptions options) {
            this.vertx = vertx;
            this.redis = redis;
            this.options = options;
        }

        /**
         * What comes before each key, with a colon between; {@code throttlekit} by default.
         *
         * @param prefix {@code [A-Za-z0-9_.-]+}; or empty, then keys stand as they are and nothing keeps them apart
         *     from other keys of the database
         * @return this
         * @throws IllegalArgumentException if it does not match
         */
        public Builder prefix(String prefix) {
            if (!PREFIX.matcher(prefix).matches()) {
                throw new IllegalArgumentException("prefix must match " + PREFIX + ", was \"" + prefix + "\"");
            }
            this.prefix = prefix;
            return this;
        }

        /**
         * How long a call may take, from its request; 250 ms by default.
         *
         * @param deadline at least 1 ms, at most a day
         * @return this
         * @throws IllegalArgumentException if it is out of range
         */
        public Builder deadline(Duration deadline) {
            if (deadline.compareTo(Duration.ofMillis(1)) < 0 || deadline.compareTo(Duration.ofDays(1)) > 0) {
                throw new IllegalArgumentException("deadline must be from 1 ms to a day, was " + deadline);
            }
            this.deadline = deadline;
            return this;
        }

        /**
         * How many pipelined connections, each on an event loop; half the processors by default, at most 4. A
         * strategy without a program opens up to two further ones for each, when it is used.
         *
         * @param connections 1 to 64
         * @return this
         * @throws IllegalArgumentException if it is out of range
         */
        public Builder connections(int connections) {
            this.connections = inRange("connections", connections, 1, 64);
            return this;
        }

        /**
         * How many calls may be in flight before further ones fail with {@code OVERLOADED}; 10,000 by default.
         *
         * @param maxInFlight 1 to 1,000,000
         * @return this
         * @throws IllegalArgumentException if it is out of range
         */
        public Builder maxInFlight(int maxInFlight) {
            this.maxInFlight = inRange("maxInFlight", maxInFlight, 1, 1_000_000);
            return this;
        }

        /**
         * Whether strategies run as programs in Redis where they can; true by default. All stores on one database must
         * say the same, since the two paths keep different state.
         *
         * @param programs false for WATCH and EXEC in every case
         * @return this
         */
        public Builder programs(boolean programs) {
            this.programs = programs;
            return this;
        }

        /**
         * How often a transaction starts over when others changed the key first; 3 by default.
         *
         * @param maxRetries 0 to 1,000
         * @return this
         * @throws IllegalArgumentException if it is out of range
         */
        public Builder maxRetries(int maxRetries) {
            this.maxRetries = inRange("maxRetries", maxRetries, 0, 1_000);
            return this;
        }

        /**
         * A clock in the place of the server's, for tests. Keys then live at least an hour of real time.
         *
         * @param clock the clock
         * @return this
         */
        public Builder clock(Clock clock) {
            this.clock = Objects.requireNonNull(clock, "clock");
            return this;
        }

        private static int inRange(String name, int value, int least, int most) {
            if (value < least || value > most) {
                throw new IllegalArgumentException(name + " must be from " + least + " to " + most + ", was " + value);
            }
            return value;
        }

        /**
         * The store, which starts connecting.
         *
         * @return a new store, to be closed
         */
        public RedisStore build() {
            return new RedisStore(this);
        }

        private Connector connector(Vertx vertx) {
            if (redis != null) {
                return new Connector.Borrowing(redis, isCluster(redis));
            }
            RedisOptions tuned = masterOnly()
                    .setMaxWaitingHandlers(Math.max(options.getMaxWaitingHandlers(), maxInFlight + SPARE_HANDLERS));
            return owning(vertx, tuned);
        }

        private Connector transactionalConnector(Vertx vertx) {
            if (redis != null) {
                return new Connector.Borrowing(redis, isCluster(redis));
            }
            return owning(vertx, masterOnly().setClusterTransactions(RedisClusterTransactions.SINGLE_NODE));
        }

        /** A replica's answer would be an old one. */
        private RedisOptions masterOnly() {
            return new RedisOptions(options).setUseReplicas(RedisReplicas.NEVER);
        }

        private static Connector owning(Vertx vertx, RedisOptions options) {
            return new Connector.Owning(
                    new FlushingVertx((VertxInternal) vertx), options, options.getType() == RedisClientType.CLUSTER);
        }

        private static boolean isCluster(Redis redis) {
            try {
                RedisCluster.create(redis);
                return true;
            } catch (IllegalArgumentException e) {
                return false;
            }
        }
    }
}
