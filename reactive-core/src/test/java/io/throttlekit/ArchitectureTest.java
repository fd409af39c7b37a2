package io.throttlekit;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

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

    @ArchTest
    static final ArchRule coreKnowsReactorAndJavaOnly = classes()
            .that()
            .resideOutsideOfPackage("io.throttlekit.http..")
            .should()
            .onlyDependOnClassesThat(resideInAnyPackage(ALLOWED));

    @ArchTest
    static final ArchRule httpKnowsTheAddressLibraryBesides = classes()
            .that()
            .resideInAPackage("io.throttlekit.http..")
            .should()
            .onlyDependOnClassesThat(resideInAnyPackage(ALLOWED).or(resideInAnyPackage("inet.ipaddr..")));

    /** It is an optional dependency: where it is missing, nothing else may need its classes. */
    @ArchTest
    static final ArchRule onlyMetricsKnowMicrometer = noClasses()
            .that()
            .haveSimpleNameNotEndingWith("Metrics")
            .should()
            .dependOnClassesThat(resideInAnyPackage("io.micrometer.."));

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
