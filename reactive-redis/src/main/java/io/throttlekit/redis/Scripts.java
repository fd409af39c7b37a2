package io.throttlekit.redis;

import io.throttlekit.Dialect;
import io.throttlekit.Program;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The Lua texts that were asked for, with the names that Redis gives them. */
final class Scripts {
    /**
     * A text.
     *
     * @param text what EVAL takes
     * @param sha what EVALSHA takes
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared, never changed
    record Script(byte[] text, byte[] sha) {}

    private final Map<String, Script> byName = new ConcurrentHashMap<>();

    /** The program's text, or null when it is not written in Lua. */
    @Nullable
    Script of(Program<?> program) {
        Script script = byName.get(program.name());
        if (script == null) {
            String text = program.text(Dialect.REDIS_LUA);
            script = text == null
                    ? new Script(new byte[0], new byte[0])
                    : new Script(text.getBytes(StandardCharsets.UTF_8), sha1(text));
            byName.put(program.name(), script);
        }
        return script.text().length == 0 ? null : script;
    }

    private static byte[] sha1(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest).getBytes(StandardCharsets.US_ASCII);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-1", e);
        }
    }
}
