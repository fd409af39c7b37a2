package io.throttlekit;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleName;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleNameStartingWith;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** What the core may know, and which of its packages may know which. */
@AnalyzeClasses(packages = "io.throttlekit", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    private static final String[] ALLOWED = {
        "io.throttlekit..",
        "io.micrometer.core.instrument..",
        "java..",
        "org.jspecify.annotations..",
        "org.reactivestreams..",
        "reactor.core..",
        "reactor.util.."
    };

    private static final DescribedPredicate<JavaClass> METERED =
            simpleNameStartingWith("MeteredDecisions").or(simpleName("Meters")).or(simpleName("ConcurrencyMetrics"));

    @ArchTest
    static final ArchRule coreKnowsReactorAndJavaOnly = classes()
            .that()
            .resideOutsideOfPackage("io.throttlekit.http..")
            .should()
            .onlyDependOnClassesThat(resideInAnyPackage(ALLOWED));

    @ArchTest
    static final ArchRule httpKnowsTheAddressLibraryBesides = classes()
            .that(resideInAPackage("io.throttlekit.http..").and(not(METERED)))
            .should()
            .onlyDependOnClassesThat(
                    resideInAnyPackage(ALLOWED).or(resideInAnyPackage("inet.ipaddr..", "javax.crypto..")));

    /** Micrometer is optional: these classes know it, which nobody loads who does not ask for them. */
    @ArchTest
    static final ArchRule onlyTheMetersKnowMicrometer =
            noClasses().that(not(METERED)).should().dependOnClassesThat(resideInAPackage("io.micrometer.."));

    @ArchTest
    static final ArchRule nobodyKnowsTheMeters =
            noClasses().that(not(METERED)).should().dependOnClassesThat(METERED);

    @ArchTest
    static final ArchRule contractsKnowNoStrategyAndNoStore = noClasses()
            .that()
            .resideInAPackage("io.throttlekit")
            .should()
            .dependOnClassesThat(resideInAnyPackage("io.throttlekit.*.."));

    @ArchTest
    static final ArchRule strategiesKnowNoStore = noClasses()
            .that()
            .resideInAPackage("io.throttlekit.strategy..")
            .should()
            .dependOnClassesThat(resideInAnyPackage("io.throttlekit.store..", "io.throttlekit.limiter.."));

    @ArchTest
    static final ArchRule storesKnowNoStrategy = noClasses()
            .that()
            .resideInAPackage("io.throttlekit.store..")
            .should()
            .dependOnClassesThat(resideInAnyPackage("io.throttlekit.strategy..", "io.throttlekit.limiter.."));

    @ArchTest
    static final ArchRule httpKnowsNoStore = noClasses()
            .that()
            .resideInAPackage("io.throttlekit.http..")
            .should()
            .dependOnClassesThat(resideInAnyPackage("io.throttlekit.store..", "io.throttlekit.strategy.."));

    @ArchTest
    static final ArchRule packagesHaveNoCycles =
            slices().matching("io.throttlekit.(*)..").should().beFreeOfCycles();
}
