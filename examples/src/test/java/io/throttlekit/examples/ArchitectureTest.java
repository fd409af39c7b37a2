package io.throttlekit.examples;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Map;
import java.util.Set;

/** Which module may know which, and that nothing we ship waits for anything. */
@AnalyzeClasses(packages = "io.throttlekit", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    private static final String[] NOT_SHIPPED_TO_RUN = {"io.throttlekit.conformance..", "io.throttlekit.examples.."};
    private static final String[] ADAPTERS = {"io.throttlekit.webflux..", "io.throttlekit.vertx.."};
    private static final String[] REMOTE_STORES = {"io.throttlekit.redis..", "io.throttlekit.pg.."};

    /** The one place that may know the stores: it makes them from an application's properties. */
    private static final String AUTO_CONFIGURATION = "io.throttlekit.webflux.autoconfigure..";

    /** The methods that wait, by the type that declares them or one of its supertypes. */
    private static final Map<String, Set<String>> WAITING = Map.ofEntries(
            Map.entry("java.lang.Object", Set.of("wait")),
            Map.entry("java.lang.Thread", Set.of("sleep", "join")),
            Map.entry("java.util.concurrent.TimeUnit", Set.of("sleep", "timedJoin", "timedWait")),
            Map.entry("java.util.concurrent.locks.LockSupport", Set.of("park", "parkNanos", "parkUntil")),
            Map.entry("java.util.concurrent.locks.Condition", Set.of("await", "awaitNanos", "awaitUntil")),
            Map.entry("java.util.concurrent.Future", Set.of("get")),
            Map.entry("java.util.concurrent.CompletableFuture", Set.of("get", "join")),
            Map.entry("java.util.concurrent.CountDownLatch", Set.of("await")),
            Map.entry("java.util.concurrent.CyclicBarrier", Set.of("await")),
            Map.entry("java.util.concurrent.Semaphore", Set.of("acquire", "acquireUninterruptibly")),
            Map.entry("java.util.concurrent.BlockingQueue", Set.of("take", "put")),
            Map.entry("java.util.concurrent.ExecutorService", Set.of("awaitTermination", "invokeAll", "invokeAny")),
            Map.entry("reactor.core.publisher.Mono", Set.of("block", "blockOptional")),
            Map.entry("reactor.core.publisher.Flux", Set.of("blockFirst", "blockLast", "toIterable", "toStream")),
            Map.entry("io.vertx.core.Future", Set.of("await")));

    @ArchTest
    static final ArchRule coreKnowsNoOtherModule = noClasses()
            .that()
            .resideInAnyPackage(
                    "io.throttlekit",
                    "io.throttlekit.strategy..",
                    "io.throttlekit.store..",
                    "io.throttlekit.limiter..",
                    "io.throttlekit.shaping..",
                    "io.throttlekit.concurrency..",
                    "io.throttlekit.http..")
            .should()
            .dependOnClassesThat(resideInAnyPackage(NOT_SHIPPED_TO_RUN)
                    .or(resideInAnyPackage(ADAPTERS))
                    .or(resideInAnyPackage(REMOTE_STORES)));

    @ArchTest
    static final ArchRule adaptersKnowNoStore = noClasses()
            .that()
            .resideInAnyPackage(ADAPTERS)
            .and()
            .resideOutsideOfPackage(AUTO_CONFIGURATION)
            .should()
            .dependOnClassesThat(resideInAnyPackage(REMOTE_STORES).or(resideInAnyPackage("io.throttlekit.store..")));

    @ArchTest
    static final ArchRule storesKnowNoAdapter = noClasses()
            .that()
            .resideInAnyPackage(REMOTE_STORES)
            .should()
            .dependOnClassesThat(resideInAnyPackage(ADAPTERS).or(resideInAnyPackage("io.throttlekit.http..")))
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule nothingShippedKnowsTheKitOrTheExamples = noClasses()
            .that()
            .resideOutsideOfPackages(NOT_SHIPPED_TO_RUN)
            .should()
            .dependOnClassesThat(resideInAnyPackage(NOT_SHIPPED_TO_RUN));

    @ArchTest
    static final ArchRule packagesHaveNoCycles =
            slices().matching("io.throttlekit.(*)..").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule nothingShippedBlocks = noClasses()
            .that()
            .resideOutsideOfPackages(NOT_SHIPPED_TO_RUN)
            .should()
            .callMethodWhere(DescribedPredicate.describe("it waits", ArchitectureTest::waits));

    private static boolean waits(JavaMethodCall call) {
        return WAITING.entrySet().stream()
                .anyMatch(entry -> entry.getValue().contains(call.getName())
                        && call.getTargetOwner().isAssignableTo(entry.getKey()));
    }
}
