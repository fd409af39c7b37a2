package io.throttlekit.peers;

import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.ClassWriter;
import org.springframework.asm.Handle;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;

/**
 * A second node in this process whose wall clock is wrong: it loads a library and everything under it anew, and turns
 * each call for the time of day into one for {@link SkewedClock}. So no library needs an option for it, and none is
 * tested other than as it is used.
 */
final class SkewedNode extends URLClassLoader {
    private static final Set<String> SHARED = Stream.of(
                    Library.class, Limit.class, Answer.class, NotApplicable.class, Servers.class)
            .map(Class::getName)
            .collect(Collectors.toUnmodifiableSet());
    private static final String CLOCK = "io/throttlekit/peers/SkewedClock";
    private static final Set<String> CALLS =
            Set.of("java/lang/System.currentTimeMillis()", "java/time/Instant.now()", "java/time/Clock.systemUTC()");

    static {
        registerAsParallelCapable();
    }

    private SkewedNode(Duration ahead) throws ReflectiveOperationException {
        super(classPath(), SkewedNode.class.getClassLoader());
        loadClass(SkewedClock.class.getName()).getMethod("set", long.class).invoke(null, ahead.toMillis());
    }

    /** A node whose clock is ahead by that much, or behind. */
    static SkewedNode of(Duration ahead) {
        try {
            return new SkewedNode(ahead);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Opens a library on this node. */
    Library open(Class<? extends Library> type, Servers servers) throws ReflectiveOperationException {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(this);
        try {
            return (Library)
                    loadClass(type.getName()).getConstructor(Servers.class).newInstance(servers);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    private static URL[] classPath() {
        return Stream.of(System.getProperty("java.class.path").split(System.getProperty("path.separator")))
                .map(SkewedNode::url)
                .toArray(URL[]::new);
    }

    private static URL url(String path) {
        try {
            return Path.of(path).toUri().toURL();
        } catch (MalformedURLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            if (loaded == null && !name.startsWith("java.") && !SHARED.contains(name)) {
                loaded = own(name);
            }
            return loaded == null ? super.loadClass(name, resolve) : loaded;
        }
    }

    /** A class of the class path, or null for one of the JDK. */
    private @Nullable Class<?> own(String name) {
        URL file = findResource(name.replace('.', '/') + ".class");
        if (file == null) {
            return null;
        }
        try (InputStream in = file.openStream()) {
            byte[] bytes = in.readAllBytes();
            byte[] skewed = name.equals(SkewedClock.class.getName()) ? bytes : skew(bytes);
            return defineClass(name, skewed, 0, skewed.length);
        } catch (IOException e) {
            throw new IllegalStateException(name, e);
        }
    }

    private static byte[] skew(byte[] bytes) {
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(reader, 0);
        reader.accept(new Rewriter(writer), 0);
        return writer.toByteArray();
    }

    private static boolean asksTheTime(String owner, String name, String descriptor) {
        return CALLS.contains(owner + "." + name + descriptor.substring(0, descriptor.indexOf(')') + 1));
    }

    private static final class Rewriter extends ClassVisitor {
        Rewriter(ClassVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public MethodVisitor visitMethod(
                int access,
                String name,
                String descriptor,
                @Nullable String signature,
                String @Nullable [] exceptions) {
            return new MethodVisitor(Opcodes.ASM9, super.visitMethod(access, name, descriptor, signature, exceptions)) {
                @Override
                public void visitMethodInsn(int opcode, String owner, String method, String type, boolean isInterface) {
                    boolean time = asksTheTime(owner, method, type);
                    super.visitMethodInsn(opcode, time ? CLOCK : owner, method, type, isInterface);
                }

                @Override
                public void visitInvokeDynamicInsn(String method, String type, Handle bootstrap, Object... arguments) {
                    Object[] changed = arguments.clone();
                    for (int i = 0; i < changed.length; i++) {
                        if (changed[i] instanceof Handle handle
                                && asksTheTime(handle.getOwner(), handle.getName(), handle.getDesc())) {
                            changed[i] = new Handle(handle.getTag(), CLOCK, handle.getName(), handle.getDesc(), false);
                        }
                    }
                    super.visitInvokeDynamicInsn(method, type, bootstrap, changed);
                }
            };
        }
    }
}
