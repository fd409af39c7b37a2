package io.throttlekit.pg;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The name of the store's table, which also begins the names of its functions.
 *
 * @param schema its schema; null for the first one of the search path
 * @param name the table
 */
record TableName(@Nullable String schema, String name) {
    /** Leaves room for {@code _sliding_window_log_01234567} within PostgreSQL's 63 bytes. */
    private static final Pattern SHAPE = Pattern.compile("(?:([A-Za-z_]\\w{0,62})\\.)?([A-Za-z_]\\w{0,31})");

    static TableName parse(String text) {
        Matcher parts = SHAPE.matcher(text);
        if (!parts.matches()) {
            throw new IllegalArgumentException(
                    "table must be a name of at most 32 of the characters A-Z a-z 0-9 _, or a schema and a name with a dot"
                            + " between, was \"" + text + "\"");
        }
        return new TableName(parts.group(1), parts.group(2));
    }

    /** As SQL, in its schema, or in the search path when it has none. */
    String quoted() {
        return quoted(name);
    }

    /** Another object beside the table, as SQL. */
    String quoted(String object) {
        return schema == null ? quote(object) : quote(schema) + "." + quote(object);
    }

    /** The same name in a schema. */
    TableName in(String resolved) {
        return new TableName(resolved, name);
    }

    private static String quote(String identifier) {
        return '"' + identifier.replace("\"", "\"\"") + '"';
    }

    @Override
    public String toString() {
        return schema == null ? name : schema + "." + name;
    }
}
